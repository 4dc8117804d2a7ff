import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@bowline/machinery';
import { silentLog } from '@bowline/runtime/manager';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ensureKubelet } from '../../../../test/support/kubelet/ensure-kubelet.ts';
import { type RunningKubelet, startKubelet } from '../../../../test/support/kubelet/start-kubelet.ts';
import type { FoundDevice } from '../discovery/found-device.ts';
import { DevicePlugins } from './device-plugins.ts';

const PICO = 'hsm.j5t.io/DC6A33145E23A42A';
const OTHER = 'hsm.j5t.io/OTHER-1';

const found = (serialNumber: string, device: string): FoundDevice => ({
  serialNumber,
  devicePath: `/dev/bus/usb/001/${device}`,
  available: true,
  deviceInfo: {},
});
const rw = (device: string) => {
  const path = `/dev/bus/usb/001/${device}`;
  return [{ hostPath: path, containerPath: path, permissions: 'rw' }];
};

let program: string | undefined;
let skippedBecause = '';
let folder: string;
let kubelet: RunningKubelet;
let plugins: DevicePlugins;
let stop: AbortController;
let running: Promise<void>;

beforeAll(async () => {
  const result = await ensureKubelet();
  if ('program' in result) program = result.program;
  else skippedBecause = result.skippedBecause;
}, 1_800_000);
beforeEach(async (context) => {
  if (program === undefined) return context.skip(skippedBecause);
  folder = await mkdtemp(join(tmpdir(), 'kubelet-'));
  kubelet = await startKubelet(program, folder);
  start();
});
afterEach(async () => {
  if (program === undefined) return;
  await end();
  await kubelet[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

function start(): void {
  stop = new AbortController();
  plugins = new DevicePlugins({ folder, owner: 'hsm/pico-hsm', clock: systemClock, log: silentLog });
  running = plugins.run(stop.signal);
}

async function end(): Promise<void> {
  stop.abort();
  await running;
}

async function restartKubelet(): Promise<void> {
  kubelet = await startKubelet(program ?? '', folder);
}

/** untilAllocatable waits until the node has exactly so many allocatable devices. */
const untilAllocatable = (expected: Readonly<Record<string, number>>): Promise<unknown> =>
  vi.waitFor(async () => expect((await kubelet.resources()).allocatable).toEqual(expected), { timeout: 60_000 });

describe('scenario 42: kubelet', () => {
  it('accepts each device as a resource, and gives it to one pod at its path', async () => {
    plugins.update([found('DC6A33145E23A42A', '015'), found('OTHER_1', '016'), found('OTHER-1', '017')]);
    const resources = Object.keys((await untilThree()).allocatable).toSorted();
    expect(resources).toEqual([PICO, OTHER, 'hsm.j5t.io/OTHER_1']);
    expect(await kubelet.admit('agent', PICO)).toEqual(rw('015'));
    expect(await kubelet.admit('other', OTHER)).toEqual(rw('017'));
    await expect(kubelet.admit('second', PICO)).rejects.toThrow('requested number of devices unavailable');
    await kubelet.endPod('agent');
    expect(await kubelet.admit('second', PICO)).toEqual(rw('015'));
  });

  it('accepts resources for serial numbers that are no names', async () => {
    plugins.update([found('/serial number/', '015'), found('x'.repeat(128), '016'), found('Ünïcode', '017')]);
    expect(Object.values((await untilThree()).allocatable)).toEqual([1, 1, 1]);
  });

  it('refuses pods while the device is unplugged, and gives later ones its new path', async () => {
    plugins.update([found('DC6A33145E23A42A', '015')]);
    await untilAllocatable({ [PICO]: 1 });
    expect(await kubelet.admit('before', PICO)).toEqual(rw('015'));
    plugins.update([]);
    await untilAllocatable({ [PICO]: 0 });
    await expect(kubelet.admit('unplugged', PICO)).rejects.toThrow('no healthy devices present');
    plugins.update([found('DC6A33145E23A42A', '021')]);
    await untilAllocatable({ [PICO]: 1 });
    // Kubelet remembers the devices of a pod: only a new pod gets the new path, a container that restarts does not.
    expect(await kubelet.restartContainer('before')).toEqual(rw('015'));
    await kubelet.endPod('before');
    expect(await kubelet.admit('after', PICO)).toEqual(rw('021'));
  });

  it('gets the devices again after it was shut down and started', async () => {
    plugins.update([found('DC6A33145E23A42A', '015')]);
    await untilAllocatable({ [PICO]: 1 });
    await kubelet[Symbol.asyncDispose]();
    await restartKubelet();
    await untilAllocatable({ [PICO]: 1 });
    expect(await kubelet.admit('agent', PICO)).toEqual(rw('015'));
  });

  it('gets the devices again after it was killed, and while it was away the path changed', async () => {
    plugins.update([found('DC6A33145E23A42A', '015'), found('OTHER-1', '016')]);
    await untilAllocatable({ [PICO]: 1, [OTHER]: 1 });
    await kubelet.kill();
    plugins.update([found('DC6A33145E23A42A', '021')]);
    await restartKubelet();
    await untilAllocatable({ [PICO]: 1, [OTHER]: 0 });
    expect(await kubelet.admit('agent', PICO)).toEqual(rw('021'));
  });

  it('has no allocatable device without the plugin, and gets it again from the next process', async () => {
    plugins.update([found('DC6A33145E23A42A', '015')]);
    await untilAllocatable({ [PICO]: 1 });
    await end();
    expect((await readdir(folder)).filter((name) => name.endsWith('.sock'))).toEqual(['kubelet.sock']);
    await untilAllocatable({ [PICO]: 0 });
    start();
    plugins.update([found('DC6A33145E23A42A', '015')]);
    await untilAllocatable({ [PICO]: 1 });
  });

  it('gets a device again that it lost because an earlier process ended after the next one had registered', async () => {
    plugins.update([found('DC6A33145E23A42A', '015')]);
    await untilAllocatable({ [PICO]: 1 });
    const [earlier, stopEarlier] = [running, stop];
    start();
    plugins.update([found('DC6A33145E23A42A', '021')]);
    await vi.waitFor(async () => {
      await kubelet.endPod('agent');
      expect(await kubelet.admit('agent', PICO)).toEqual(rw('021'));
    });
    stopEarlier.abort();
    await earlier;
    // Kubelet disconnects the next one, too, which then registers again.
    await untilAllocatable({ [PICO]: 0 });
    await untilAllocatable({ [PICO]: 1 });
    await kubelet.endPod('agent');
    expect(await kubelet.admit('agent', PICO)).toEqual(rw('021'));
  });
});

async function untilThree() {
  return await vi.waitFor(
    async () => {
      const resources = await kubelet.resources();
      expect(Object.keys(resources.allocatable)).toHaveLength(3);
      expect(Object.values(resources.allocatable)).toEqual([1, 1, 1]);
      return resources;
    },
    { timeout: 60_000 },
  );
}
