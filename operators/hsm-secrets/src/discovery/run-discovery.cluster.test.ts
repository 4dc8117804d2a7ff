import { rename } from 'node:fs/promises';
import { Pod, RoleBinding } from '@bowline/kubernetes';
import { silentLog } from '@bowline/runtime/manager';
import { describe, expect, it, vi } from 'vitest';
import { HSMDevice } from '../api/hsm-device.ts';
import type { DeviceSource } from './device-source.ts';
import { DISCOVERY_RULES, discoveryCluster, Outage } from './discovery-cluster.test-support.ts';
import { HostDevices } from './host-devices.ts';
import type { UsbDevice } from './host-tree.test-support.ts';

const PICO: UsbDevice = { vendorId: '20a0', productId: '4230', serial: 'DC6A33145E23A42A', bus: 1, device: 15 };
const waiting = { timeout: 60_000, interval: 20 };
/** Longer than any test: devices are not found by repeating the scan. */
const RARELY = { scanInterval: '1h' };

const completed = (...paths: string[]) => ({
  discoveryStatus: 'completed',
  discoveredDevices: paths.map((devicePath) => ({ devicePath })),
});

describe('scenario 41 a device', () => {
  it('is reported when it is found, plugged in, enumerated again and removed', async () => {
    await using c = await discoveryCluster();
    await c.createDevice(RARELY);
    await c.host.plug('1-1', PICO);
    const { devices } = await c.discover();
    expect(await c.untilReport(completed('/dev/bus/usb/001/015'))).toMatchObject({
      hsmDeviceName: 'pico-hsm',
      reportingNode: c.nodeName,
      discoveredDevices: [
        {
          serialNumber: 'DC6A33145E23A42A',
          nodeName: c.nodeName,
          available: true,
          deviceInfo: { vendorId: '20a0', productId: '4230' },
        },
      ],
    });
    await c.host.plug('1-2', { ...PICO, serial: 'SECOND', device: 16 });
    await c.untilReport(completed('/dev/bus/usb/001/015', '/dev/bus/usb/001/016'));
    await c.host.unplug('1-1');
    await c.host.plug('1-1', { ...PICO, device: 21 });
    await c.untilReport(completed('/dev/bus/usb/001/016', '/dev/bus/usb/001/021'));
    await c.host.unplug('1-2');
    await c.host.unplug('1-1');
    await c.untilReport(completed());
    expect(devices[0]).toEqual(['/dev/bus/usb/001/015']);
    expect(devices).toContainEqual(['/dev/bus/usb/001/016', '/dev/bus/usb/001/021']);
    expect(devices.at(-1)).toEqual([]);
  });

  it('is found by the scan interval alone', async () => {
    await using c = await discoveryCluster();
    await c.createDevice();
    const host = new HostDevices({ ...c.host, clock: c.clock, log: silentLog });
    // A node where nothing can be watched.
    const source: DeviceSource = { scan: (spec) => host.scan(spec), changes: async function* () {} };
    await c.discover({ source });
    await c.untilReport(completed(), { stepMs: 0 });
    await c.host.plug('1-1', PICO);
    await c.clock.advance(30_000);
    await c.untilReport(completed('/dev/bus/usb/001/015'), { stepMs: 0 });
  });

  it('is not reported while sysfs cannot be read, which is an error', async () => {
    await using c = await discoveryCluster();
    await c.createDevice();
    await c.host.plug('1-1', PICO);
    await rename(c.host.sysfs, `${c.host.sysfs}.away`);
    const { devices, logged } = await c.discover();
    expect(await c.untilReport({ discoveryStatus: 'error' }, { stepMs: 0 })).toMatchObject({
      discoveredDevices: [],
      error: `cannot read the USB devices in ${c.host.sysfs}/bus/usb/devices; mount the /sys of the node, and give its path with --sysfs`,
    });
    expect(devices).toEqual([]);
    await rename(`${c.host.sysfs}.away`, c.host.sysfs);
    await c.untilReport({ ...completed('/dev/bus/usb/001/015'), error: undefined });
    expect(logged.filter((message) => message === 'cannot search the node')).toHaveLength(1);
  });
});

describe('a report', () => {
  it('is repeated at the heartbeat of the pool, by the clock alone', async () => {
    await using c = await discoveryCluster();
    await c.createDevice(RARELY);
    await c.createPool('30s');
    const discovery = await c.discover();
    const first = await c.untilReport(completed(), { stepMs: 0 });
    // The pool may be known later than the first report.
    await vi.waitFor(() => expect(c.clock.nextDueInMs).toBeLessThanOrEqual(10_000), waiting);
    const sent = discovery.patches();
    await c.clock.advance((c.clock.nextDueInMs ?? 0) - 1);
    expect(discovery.patches()).toBe(sent);
    await c.clock.advance(1);
    await vi.waitFor(() => expect(discovery.patches()).toBe(sent + 1), waiting);
    const second = await vi.waitFor(async () => {
      const report = await c.stored();
      expect(report?.lastReportTime).not.toBe(first.lastReportTime);
      return report;
    }, waiting);
    expect(second).toEqual({ ...first, lastReportTime: '2026-01-01T00:00:10.000000Z' });
  });

  it('stays when discovery is stopped', async () => {
    await using c = await discoveryCluster();
    await c.createDevice();
    await c.host.plug('1-1', PICO);
    const discovery = await c.discover();
    const before = await c.untilReport(completed('/dev/bus/usb/001/015'), { stepMs: 0 });
    await discovery.stop();
    expect(c.clock.pendingTimers).toBe(0);
    expect(await c.stored()).toEqual(before);
  });

  it('is written when the permission to do so was added', async () => {
    await using c = await discoveryCluster(DISCOVERY_RULES.slice(0, 1));
    await c.createDevice(RARELY);
    const discovery = await c.discover();
    await vi.waitFor(() => expect(discovery.logged).toContain('cannot report, retrying'), waiting);
    const { namespace } = c;
    const subjects = [{ kind: 'ServiceAccount', ...c.account }];
    const { name } = await c.serviceAccount({ rules: DISCOVERY_RULES });
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name };
    await c.admin.create(RoleBinding, { metadata: { namespace, name: 'later' }, subjects, roleRef });
    await c.untilReport(completed(), { stepMs: 60_000 });
    expect(discovery.logged.filter((message) => message === 'cannot report, retrying')).toHaveLength(1);
  });

  it('is written after an outage with the latest spec and devices', async () => {
    await using c = await discoveryCluster();
    await c.createDevice({ ...RARELY, discovery: { usb: [{ vendorId: '046d', productId: 'c31c' }] } });
    const outage = new Outage();
    await c.discover({ client: outage.through(await c.podClient()) });
    await c.untilReport(completed(), { stepMs: 0 });
    outage.begin();
    await c.host.plug('1-1', PICO);
    await c.patchDevice({ spec: { discovery: { usb: [{ vendorId: '20a0', productId: '4230' }] } } });
    await c.clock.advance(600_000);
    expect(await c.stored()).toMatchObject(completed());
    outage.end();
    await c.untilReport(completed('/dev/bus/usb/001/015'), { stepMs: 10_000 });
  });

  it('follows a change of the spec at once', async () => {
    await using c = await discoveryCluster();
    await c.createDevice({ ...RARELY, discovery: { usb: [{ vendorId: '046d', productId: 'c31c' }] } });
    await c.host.plug('1-1', PICO);
    await c.discover();
    await c.untilReport(completed(), { stepMs: 0 });
    await c.patchDevice({ spec: { discovery: { autoDiscovery: true } } });
    await c.untilReport(completed('/dev/bus/usb/001/015'), { stepMs: 0 });
  });
});

describe('an HSMDevice', () => {
  it('that is missing is waited for, and nothing is reported', async () => {
    await using c = await discoveryCluster();
    await c.host.plug('1-1', PICO);
    const discovery = await c.discover();
    const message = 'reporting nothing until the HSMDevice exists and is not suspended';
    await vi.waitFor(() => expect(discovery.logged).toContain(message), waiting);
    await c.clock.advance(600_000);
    expect(discovery.requests.filter((request) => request.endsWith(' pods'))).toEqual([]);
    await c.createDevice();
    await c.untilReport(completed('/dev/bus/usb/001/015'), { stepMs: 0 });
    await c.admin.delete(HSMDevice, { namespace: c.namespace, name: 'pico-hsm' });
    await vi.waitFor(() => expect(discovery.devices.at(-1)).toEqual([]), waiting);
    const sent = discovery.patches();
    await c.clock.advance(600_000);
    expect(discovery.patches()).toBe(sent);
    expect(await c.stored()).toMatchObject(completed('/dev/bus/usb/001/015'));
  });

  it('that is suspended is not searched for, and one that is paused is', async () => {
    await using c = await discoveryCluster();
    await c.createDevice({ ...RARELY, suspend: true });
    await c.host.plug('1-1', PICO);
    await c.patchDevice({ metadata: { annotations: { 'bowline.dev/paused': 'true' } } });
    const discovery = await c.discover();
    await vi.waitFor(() => expect(discovery.devices).toEqual([[]]), waiting);
    await c.clock.advance(600_000);
    expect(discovery.patches()).toBe(0);
    await c.patchDevice({ spec: { suspend: false } });
    await c.untilReport(completed('/dev/bus/usb/001/015'), { stepMs: 0 });
    const sent = discovery.patches();
    await c.clock.advance(60_000);
    await vi.waitFor(() => expect(discovery.patches()).toBe(sent + 1), waiting);
  });
});

describe('a pod that was deleted and recreated', () => {
  it('gets no report from the discovery of its predecessor', async () => {
    await using c = await discoveryCluster();
    await c.createDevice();
    const former = await c.discover();
    await c.untilReport(completed(), { stepMs: 0 });
    await c.admin.delete(Pod, { namespace: c.namespace, name: 'scanner' }, { gracePeriodSeconds: 0 });
    await c.untilGone(Pod, { name: 'scanner' });
    await c.createPod();
    const sent = former.patches();
    await vi.waitFor(async () => {
      await c.clock.advance(60_000);
      expect(former.patches()).toBeGreaterThan(sent);
    }, waiting);
    expect(await c.stored()).toBeUndefined();
    await c.host.plug('1-1', PICO);
    await c.discover();
    await c.untilReport(completed('/dev/bus/usb/001/015'), { stepMs: 0 });
  });

  it('gets the report of a discovery whose token is not bound to its predecessor', async () => {
    await using c = await discoveryCluster();
    await c.createDevice();
    await c.discover({ client: await c.clientFor({ serviceAccount: c.account }) });
    await c.untilReport(completed(), { stepMs: 0 });
    await c.admin.delete(Pod, { namespace: c.namespace, name: 'scanner' }, { gracePeriodSeconds: 0 });
    await c.untilGone(Pod, { name: 'scanner' });
    await c.createPod();
    await c.untilReport(completed(), { stepMs: 10_000 });
  });
});
