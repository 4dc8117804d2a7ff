import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { VirtualClock } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import { silentLog } from '@bowline/runtime/manager';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { FoundDevice } from '../discovery/found-device.ts';
import { DevicePlugins, type DevicePluginsOptions } from './device-plugins.ts';
import { FakeKubelet } from './fake-kubelet.test-support.ts';
import { newSocketPath } from './plugin-sockets.ts';

const OWNER = 'hsm/pico-hsm';
const RESOURCE = 'hsm.j5t.io/DC6A33145E23A42A';

const found = (serialNumber: string | undefined, devicePath = '/dev/bus/usb/001/015'): FoundDevice => ({
  serialNumber,
  devicePath,
  available: true,
  deviceInfo: {},
});
const PICO = found('DC6A33145E23A42A');

let kubelet: FakeKubelet;
let clock: VirtualClock;
let create: (options?: Partial<DevicePluginsOptions>) => DevicePlugins;
let plugins: DevicePlugins;
let stop: AbortController;
let running: Promise<void> | undefined;
let lines: { message: string; error: unknown }[];

beforeEach(async () => {
  kubelet = await FakeKubelet.create();
  clock = new VirtualClock();
  stop = new AbortController();
  running = undefined;
  lines = [];
  const record = (message: string, fields?: { readonly error?: unknown }): void =>
    void lines.push({ message, error: fields?.error });
  const log: Log = { ...silentLog, info: record, warn: record, with: () => log };
  create = (options) => new DevicePlugins({ folder: kubelet.folder, owner: OWNER, clock, log, ...options });
  plugins = create();
});
afterEach(async () => {
  await end();
  await kubelet[Symbol.asyncDispose]();
});

const run = (): void => {
  running = plugins.run(stop.signal);
};
const end = async (): Promise<void> => {
  stop.abort();
  await running;
};
/** until waits for what sockets and watches of files deliver; time is virtual and stands still. */
const until = (check: () => unknown): Promise<unknown> => vi.waitFor(check, { timeout: 20_000, interval: 5 });
const untilHealth = (resource: string, health: string | undefined): Promise<unknown> =>
  until(() => expect(kubelet.health(resource)).toBe(health));
const messages = (): readonly string[] => lines.map(({ message }) => message);

/** leaveSocket creates a socket at which no process listens. */
async function leaveSocket(path: string): Promise<void> {
  const server = createServer().listen(`${path}.open`);
  await once(server, 'listening');
  await rename(`${path}.open`, path);
  server.close();
  await once(server, 'close');
}

const MISSING = "kubelet's socket is missing, offering no devices until it appears";
const REGISTERED = 'registered the device plugin with kubelet';

describe('a device', () => {
  it('is registered as a resource of its own, with one healthy device', async () => {
    await kubelet.start();
    plugins.update([PICO]);
    run();
    await untilHealth(RESOURCE, 'Healthy');
    expect(kubelet.attempts).toEqual([
      {
        version: 'v1beta1',
        endpoint: kubelet.sockets()[0],
        resourceName: RESOURCE,
        options: { preStartRequired: false, getPreferredAllocationAvailable: false },
      },
    ]);
    expect(kubelet.resources.get(RESOURCE)?.lists).toEqual([[{ ID: 'DC6A33145E23A42A', health: 'Healthy' }]]);
    expect(await kubelet.allocate(RESOURCE)).toEqual([
      { hostPath: '/dev/bus/usb/001/015', containerPath: '/dev/bus/usb/001/015', permissions: 'rw' },
    ]);
    await until(() => expect(messages()).toEqual([REGISTERED]));
  });

  it('is offered when it appears, next to the others', async () => {
    await kubelet.start();
    run();
    plugins.update([PICO]);
    await untilHealth(RESOURCE, 'Healthy');
    plugins.update([PICO, found('OTHER', '/dev/bus/usb/001/016')]);
    await untilHealth('hsm.j5t.io/OTHER', 'Healthy');
    expect(kubelet.sockets()).toHaveLength(2);
    expect(kubelet.resources.get(RESOURCE)?.lists).toHaveLength(1);
    expect(await kubelet.allocate(RESOURCE)).toMatchObject([{ hostPath: '/dev/bus/usb/001/015' }]);
    expect(await kubelet.allocate('hsm.j5t.io/OTHER')).toMatchObject([{ hostPath: '/dev/bus/usb/001/016' }]);
  });

  it('is unhealthy and cannot be allocated while it is unplugged or unavailable', async () => {
    await kubelet.start();
    plugins.update([PICO]);
    run();
    await untilHealth(RESOURCE, 'Healthy');
    for (const devices of [[], [{ ...PICO, available: false }]]) {
      plugins.update(devices);
      await untilHealth(RESOURCE, 'Unhealthy');
      await expect(kubelet.allocate(RESOURCE)).rejects.toThrow('DC6A33145E23A42A is not present on this node');
      plugins.update([PICO]);
      await untilHealth(RESOURCE, 'Healthy');
    }
    expect(kubelet.resources.get(RESOURCE)?.lists).toHaveLength(5);
    expect(kubelet.attempts).toHaveLength(1);
  });

  it('is allocated at its current path after it got another one', async () => {
    await kubelet.start();
    plugins.update([PICO]);
    run();
    await untilHealth(RESOURCE, 'Healthy');
    plugins.update([found('DC6A33145E23A42A', '/dev/bus/usb/001/021')]);
    expect(await kubelet.allocate(RESOURCE)).toMatchObject([
      { hostPath: '/dev/bus/usb/001/021', containerPath: '/dev/bus/usb/001/021' },
    ]);
    expect(kubelet.resources.get(RESOURCE)?.lists).toHaveLength(1);
  });

  it('is not offered without a serial number', async () => {
    await kubelet.start();
    plugins.update([found(undefined), PICO]);
    run();
    await untilHealth(RESOURCE, 'Healthy');
    expect([...kubelet.resources.keys()]).toEqual([RESOURCE]);
  });

  it('that shares its serial number with another one is offered once, if possible where it can be used', async () => {
    await kubelet.start();
    plugins.update([{ ...PICO, available: false }, found('DC6A33145E23A42A', '/dev/bus/usb/001/021'), PICO]);
    run();
    await untilHealth(RESOURCE, 'Healthy');
    expect(await kubelet.allocate(RESOURCE)).toMatchObject([{ hostPath: '/dev/bus/usb/001/021' }]);
    expect(kubelet.attempts).toHaveLength(1);
  });

  it('with a serial number that is no name, or very long, has a valid resource and a short socket', async () => {
    await kubelet.start();
    const long = '/'.repeat(64) + 'x'.repeat(64);
    plugins.update([found(long)]);
    run();
    await until(() => expect(kubelet.resources.size).toBe(1));
    const [resource = ''] = kubelet.resources.keys();
    await untilHealth(resource, 'Healthy');
    expect(resource).toMatch(/^hsm\.j5t\.io\/[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/);
    const [device] = kubelet.resources.get(resource)?.lists[0] ?? [];
    expect(device?.ID.length).toBeLessThanOrEqual(63);
  });

  it('is no longer a resource some time after it was unplugged', async () => {
    await kubelet.start();
    plugins.update([PICO]);
    run();
    await untilHealth(RESOURCE, 'Healthy');
    plugins.update([]);
    await untilHealth(RESOURCE, 'Unhealthy');
    await clock.advance(590_000);
    expect(kubelet.health(RESOURCE)).toBe('Unhealthy');
    await clock.advance(20_000);
    await untilHealth(RESOURCE, undefined);
    expect(kubelet.sockets()).toEqual([]);
    plugins.update([PICO]);
    await untilHealth(RESOURCE, 'Healthy');
  });

  it('is offered in place of one that was unplugged if there are too many', async () => {
    await kubelet.start();
    plugins = create({ maxDevices: 2 });
    plugins.update([found('OTHER'), PICO]);
    run();
    await untilHealth(RESOURCE, 'Healthy');
    plugins.update([found('OTHER'), found('NEW')]);
    await untilHealth('hsm.j5t.io/NEW', 'Healthy');
    await untilHealth(RESOURCE, undefined);
    plugins.update([found('OTHER'), found('NEW'), PICO]);
    await until(() => expect(messages()).toContain('too many devices, offering only some of them to kubelet'));
    expect(kubelet.sockets()).toHaveLength(2);
    expect(kubelet.health(RESOURCE)).toBeUndefined();
  });

  it('answers the calls of the API that it does not need', async () => {
    await kubelet.start();
    plugins.update([PICO]);
    run();
    await untilHealth(RESOURCE, 'Healthy');
    const ids = ['DC6A33145E23A42A'];
    const request = { availableDeviceIDs: ids, mustIncludeDeviceIDs: [], allocationSize: 1 };
    expect(
      await kubelet.callPlugin(RESOURCE, ({ devicePlugin }) => devicePlugin.GetPreferredAllocation, {
        containerRequests: [request],
      }),
    ).toEqual({ containerResponses: [{ deviceIDs: ids }] });
    expect(await kubelet.callPlugin(RESOURCE, ({ devicePlugin }) => devicePlugin.PreStartContainer, {})).toEqual({});
  });
});

describe('kubelet', () => {
  it('that is missing is logged once, and gets the devices when it appears', async () => {
    plugins.update([PICO]);
    run();
    await until(() => expect(messages()).toEqual([MISSING]));
    await clock.advance(60_000);
    expect(messages()).toEqual([MISSING]);
    expect(kubelet.sockets()).toEqual([]);
    await kubelet.start();
    await untilHealth(RESOURCE, 'Healthy');
  });

  it('is found by the periodic check when its folder appears later', async () => {
    await rm(kubelet.folder, { recursive: true });
    plugins.update([PICO]);
    run();
    await until(() => expect(messages()).toEqual([MISSING]));
    await mkdir(kubelet.folder);
    await kubelet.start();
    await clock.advance(10_000);
    await untilHealth(RESOURCE, 'Healthy');
  });

  it('gets the devices again after it restarted and removed their sockets', async () => {
    await kubelet.start();
    plugins.update([PICO, found('OTHER')]);
    run();
    await untilHealth(RESOURCE, 'Healthy');
    const before = kubelet.sockets();
    await kubelet.stop();
    await kubelet.start();
    await untilHealth(RESOURCE, 'Healthy');
    await untilHealth('hsm.j5t.io/OTHER', 'Healthy');
    expect(kubelet.sockets()).toHaveLength(2);
    expect(kubelet.sockets().filter((name) => before.includes(name))).toEqual([]);
    plugins.update([]);
    await untilHealth(RESOURCE, 'Unhealthy');
  });

  it('gets a device again that it no longer watches, although it did not restart', async () => {
    await kubelet.start();
    plugins.update([PICO]);
    run();
    await untilHealth(RESOURCE, 'Healthy');
    kubelet.disconnect(RESOURCE);
    await untilHealth(RESOURCE, undefined);
    await until(() => expect(clock.nextDueInMs).toBeLessThanOrEqual(1_000));
    await clock.advance(1_000);
    await untilHealth(RESOURCE, 'Healthy');
    expect(kubelet.attempts).toHaveLength(2);
  });

  it('gets a device again if it has accepted it but does not watch it', async () => {
    await kubelet.start();
    kubelet.isBlind = true;
    plugins.update([PICO]);
    run();
    await until(() => expect(messages()).toEqual([REGISTERED]));
    kubelet.isBlind = false;
    await clock.advance(4_999);
    expect(kubelet.attempts).toHaveLength(1);
    await clock.advance(1);
    await untilHealth(RESOURCE, 'Healthy');
  });

  it('that refuses a device is asked again at growing intervals, which is logged once', async () => {
    await kubelet.start();
    kubelet.refusal = 'the ResourceName is invalid';
    plugins.update([PICO]);
    run();
    for (const [at, delay] of [1_000, 2_000, 4_000, 8_000].entries()) {
      await until(() => expect(kubelet.attempts).toHaveLength(at + 1));
      await until(() => expect(clock.nextDueInMs).toBe(delay));
      if (delay === 8_000) kubelet.refusal = undefined;
      await clock.advance(delay);
    }
    await untilHealth(RESOURCE, 'Healthy');
    await until(() =>
      expect(messages()).toEqual(['cannot register the device plugin with kubelet, retrying', REGISTERED]),
    );
    expect(lines[0]?.error).toMatchObject({
      code: 'BOWLINE_HSM_DEVICE_PLUGIN',
      message: expect.stringMatching(
        /^cannot register hsm\.j5t\.io\/DC6A33145E23A42A with kubelet .*the ResourceName is/,
      ),
    });
  });

  it('that left its socket and does not respond gets the devices from its successor', async () => {
    await leaveSocket(join(kubelet.folder, 'kubelet.sock'));
    plugins.update([PICO]);
    run();
    await until(() => expect(messages()).toEqual(['cannot register the device plugin with kubelet, retrying']));
    await kubelet.start();
    await untilHealth(RESOURCE, 'Healthy');
  });
});

describe('sockets', () => {
  it('are removed at the end', async () => {
    await kubelet.start();
    plugins.update([PICO, found('OTHER')]);
    run();
    await untilHealth(RESOURCE, 'Healthy');
    await untilHealth('hsm.j5t.io/OTHER', 'Healthy');
    await end();
    expect(kubelet.sockets()).toEqual([]);
    await untilHealth(RESOURCE, undefined);
    expect(clock.pendingTimers).toBe(0);
  });

  it('that an earlier process left are removed at the start, those of others are not', async () => {
    const own = newSocketPath(kubelet.folder, OWNER, 'OLD');
    const other = newSocketPath(kubelet.folder, 'hsm/other', 'OLD');
    await writeFile(own, '');
    await writeFile(other, '');
    run();
    await until(() => expect(existsSync(own)).toBe(false));
    expect(existsSync(other)).toBe(true);
  });

  it('have short paths, and those that cannot be shortened are refused', () => {
    const folder = '/var/lib/kubelet/device-plugins';
    expect(newSocketPath(folder, OWNER, 'DC6A33145E23A42A')).toMatch(
      /^\/var\/lib\/kubelet\/device-plugins\/hsm-[0-9a-f]{8}-DC6A33145E23A42A-[0-9a-f]{8}\.sock$/,
    );
    expect(newSocketPath(folder, OWNER, 'x'.repeat(128)).length).toBeLessThanOrEqual(107);
    expect(() => newSocketPath(`/${'x'.repeat(80)}`, OWNER, 'x')).toThrow("mount kubelet's folder at a shorter path");
  });
});
