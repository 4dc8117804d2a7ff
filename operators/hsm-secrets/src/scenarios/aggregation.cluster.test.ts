import { DaemonSet, Pod, type PodSpec, ServiceAccount } from '@bowline/kubernetes';
import { formatMicroTime } from '@bowline/machinery';
import { findCondition } from '@bowline/runtime';
import { describe, expect, it } from 'vitest';
import { HSMDevice } from '../api/hsm-device.ts';
import type { HSMPool } from '../api/hsm-pool.ts';
import { devicesIn, type HsmCluster, hsmCluster, podsIn } from '../testing/hsm-cluster.test-support.ts';

const reasonOf = (pool: HSMPool, type: string): string | undefined => findCondition(pool, type)?.reason;

/** The pods of a device on all nodes. */
async function podsOf(c: HsmCluster, device: string): Promise<readonly Pod[]> {
  return await Promise.all(c.nodes.map((node) => c.discoveryPod(device, node)));
}

describe('the reports of the pods', () => {
  it('scenario 07 become the rows and devices of the pool, which is ready when all pods have reported', async () => {
    await using c = await hsmCluster();
    await c.createDevice('pico-hsm');
    const [first, second] = (await podsOf(c, 'pico-hsm')) as [Pod, Pod];
    await c.report(first, ['DC6A33145E23A42A']);
    const one = await c.untilPool('pico-hsm', ({ totalDevices }) => totalDevices === 1);
    expect(one.status).toMatchObject({
      phase: 'Aggregating',
      availableDevices: 1,
      expectedPods: 2,
      reportingPodCount: 1,
    });
    await c.report(second, ['AC6A33145E23A42A']);
    const both = await c.untilPool('pico-hsm', ({ phase }) => phase === 'Ready');
    expect(both.status).toMatchObject({ totalDevices: 2, availableDevices: 2, expectedPods: 2 });
    expect(devicesIn(both)).toEqual([
      ['AC6A33145E23A42A', c.nodes[1], true, 'Healthy'],
      ['DC6A33145E23A42A', c.nodes[0], true, 'Healthy'],
    ]);
    expect(podsIn(both)).toEqual([first, second].map(({ metadata }) => [metadata?.name, true]).sort());
    for (const type of ['Ready', 'ReportsFresh', 'ReportsValid', 'DevicesAvailable', 'DeviceLimit'])
      expect([type, findCondition(both, type)?.status]).toEqual([type, 'True']);
    await c.untilEvent('pico-hsm-pool', 'DeviceDiscovered', 'DC6A33145E23A42A');
  });

  it('scenario 08 of a search that is not complete or failed do not make the pool ready', async () => {
    await using c = await hsmCluster();
    await c.createDevice('pico');
    const [first, second] = (await podsOf(c, 'pico')) as [Pod, Pod];
    await c.report(first, [], { discoveryStatus: 'discovering' });
    await c.report(second, ['1']);
    await c.untilPool('pico', ({ phase, reportingPodCount }) => phase === 'Aggregating' && reportingPodCount === 2);
    await c.report(first, [], { discoveryStatus: 'error', error: 'cannot read /sys' });
    const partial = await c.untilPool('pico', ({ phase }) => phase === 'Partial');
    expect(findCondition(partial, 'Ready')?.message).toContain('cannot read /sys');
    await c.report(second, [], { discoveryStatus: 'error', error: 'cannot read /sys' });
    await c.untilPool('pico', ({ phase }) => phase === 'Error');
  });

  it('scenario 09 do not count if they are invalid, which the pool reports, and nothing else is affected', async () => {
    await using c = await hsmCluster();
    await c.createDevice('pico');
    const [bad, good] = (await podsOf(c, 'pico')) as [Pod, Pod];
    const name = bad.metadata?.name ?? '';
    await c.report(bad, ['1']);
    await c.report(good, ['2']);
    await c.untilPool('pico', ({ phase }) => phase === 'Ready');
    const invalid: readonly [string, () => Promise<void>][] = [
      ['hsmDeviceName is other', () => c.report(bad, ['3'], { hsmDeviceName: 'other' })],
      ['reportingNode is other', () => c.report(bad, ['3'], { reportingNode: 'other' })],
      ['not JSON', () => c.writeReport(bad, '{')],
      ['lastReportTime is missing', () => c.report(bad, ['3'], { lastReportTime: undefined })],
    ];
    for (const [problem, write] of invalid) {
      await write();
      const pool = await c.untilPool('pico', (_, { status }) =>
        Boolean(status?.conditions?.some(({ type, message }) => type === 'ReportsValid' && message.includes(problem))),
      );
      expect(findCondition(pool, 'ReportsValid')).toMatchObject({ status: 'False', reason: 'InvalidReport' });
      expect(findCondition(pool, 'ReportsValid')?.message).toContain(name);
      expect(devicesIn(pool)).toEqual([
        ['1', c.nodes[0], true, 'Healthy'],
        ['2', c.nodes[1], true, 'Healthy'],
      ]);
    }
    const body = { metadata: { annotations: { 'hsm.j5t.io/device-report': 'x'.repeat(65_537) } } };
    const own = await c.clientOf(bad);
    const tooLong = own.patch(Pod, { namespace: c.namespace, name }, { type: 'merge', body });
    await expect(tooLong).rejects.toThrow('at most 65536 characters');
    await c.untilEvent('pico-pool', 'InvalidReport', name);
    await c.report(bad, ['1']);
    await c.untilPool('pico', (_, pool) => reasonOf(pool, 'ReportsValid') === 'Valid');
  });

  it('scenario 09 of a pod of another owner do not count', async () => {
    await using c = await hsmCluster({ nodes: 1 });
    await c.createDevice('pico');
    const pod = await c.discoveryPod('pico', c.nodes[0] ?? '');
    const { namespace } = c;
    const labels = { 'app.kubernetes.io/component': 'discovery', 'hsm.j5t.io/device': 'pico' };
    const annotations = { 'hsm.j5t.io/device-report': reportFor('pico', c.nodes[0] ?? '', 'FAKE', c) };
    // With a controller of its own, so that the DaemonSet does not adopt it.
    const device = await c.admin.get(HSMDevice, { namespace, name: 'pico' });
    const owner = {
      apiVersion: 'hsm.j5t.io/v1alpha1',
      kind: 'HSMDevice',
      name: 'pico',
      uid: device.metadata?.uid ?? '',
    };
    await c.admin.create(Pod, {
      metadata: { namespace, name: 'intruder', labels, annotations, ownerReferences: [{ ...owner, controller: true }] },
      spec: { ...minimalSpec(c.nodes[0] ?? ''), serviceAccountName: 'pico-discovery' },
    });
    await c.report(pod, ['1']);
    const pool = await c.untilPool('pico', (_, each) => reasonOf(each, 'ReportsValid') === 'InvalidReport');
    expect(findCondition(pool, 'ReportsValid')?.message).toContain(
      'intruder: the pod does not belong to the DaemonSet',
    );
    expect(devicesIn(await c.untilPool('pico', ({ totalDevices }) => totalDevices === 1))).toEqual([
      ['1', c.nodes[0], true, 'Healthy'],
    ]);
  });
});

describe('several devices', () => {
  it('scenario 10 on one node have pools of their own; the older has a serial number that both find', async () => {
    await using c = await hsmCluster({ nodes: 1 });
    const [node = ''] = c.nodes;
    await c.createDevice('a-older');
    await c.untilPool('a-older', (_, pool) => reasonOf(pool, 'Ready') === 'Pending');
    await c.createDevice('b-younger');
    await c.untilPool(
      'a-older',
      (_, pool) => findCondition(pool, 'DiscoveryOverlap')?.message.includes('b-younger') ?? false,
    );
    await c.untilPool(
      'b-younger',
      (_, pool) => findCondition(pool, 'DiscoveryOverlap')?.message.includes('a-older') ?? false,
    );
    await c.report(await c.discoveryPod('b-younger', node), ['1', '2']);
    await c.untilPool('b-younger', ({ availableDevices }) => availableDevices === 2);
    await c.report(await c.discoveryPod('a-older', node), ['1']);
    await c.untilPool('a-older', ({ availableDevices }) => availableDevices === 1);
    const younger = await c.untilPool('b-younger', ({ availableDevices }) => availableDevices === 1);
    expect(devicesIn(younger)).toEqual([
      ['1', node, false, 'Claimed'],
      ['2', node, true, 'Healthy'],
    ]);
    expect(JSON.stringify(younger.status?.aggregatedDevices)).not.toContain('a-older');
    await c.admin.delete(HSMDevice, { namespace: c.namespace, name: 'a-older' });
    await c.untilPool('b-younger', ({ availableDevices }) => availableDevices === 2);
    await c.untilPool('b-younger', (_, pool) => findCondition(pool, 'DiscoveryOverlap') === undefined);
  });

  it('scenario 11 with one serial number on two nodes stay where they are until their node reports them missing', async () => {
    await using c = await hsmCluster();
    await c.createDevice('pico');
    const [first, second] = (await podsOf(c, 'pico')) as [Pod, Pod];
    await c.report(second, ['1', { devicePath: '/dev/ttyACM0' }]);
    await c.untilPool('pico', ({ totalDevices }) => totalDevices === 2);
    await c.report(first, ['1', { devicePath: '/dev/ttyACM0' }]);
    const duplicate = await c.untilPool('pico', (_, pool) => reasonOf(pool, 'DuplicateSerial') === 'DuplicateSerial');
    expect(devicesIn(duplicate)).toEqual([
      ['1', c.nodes[1], true, 'Healthy'],
      [`${c.nodes[0]}:/dev/ttyACM0`, c.nodes[0], true, 'Healthy'],
      [`${c.nodes[1]}:/dev/ttyACM0`, c.nodes[1], true, 'Healthy'],
    ]);
    await c.untilEvent('pico-pool', 'DuplicateSerial', c.nodes[0]);
    await c.report(second, []);
    const moved = await c.untilPool('pico', (_, pool) => devicesIn(pool)[0]?.[1] === c.nodes[0]);
    expect(findCondition(moved, 'DuplicateSerial')).toBeUndefined();
    await c.untilEvent('pico-pool', 'DeviceMigrated');
  });

  it('scenario 12 beyond the limit are counted, but not used', async () => {
    await using c = await hsmCluster({ nodes: 1 });
    await c.createDevice('pico', { maxDevices: 1 });
    await c.report(await c.discoveryPod('pico', c.nodes[0] ?? ''), ['c', 'a', 'b']);
    const pool = await c.untilPool('pico', ({ totalDevices }) => totalDevices === 3);
    expect(pool.status?.availableDevices).toBe(1);
    expect(findCondition(pool, 'DeviceLimit')).toMatchObject({ status: 'False', reason: 'LimitExceeded' });
    await c.untilEvent('pico-pool', 'DeviceLimitExceeded');
  });
});

it('scenario 14 accepts the hand-made pods of the seed without requireDaemonSetOwner', async () => {
  await using c = await hsmCluster({ config: { requireDaemonSetOwner: false } });
  const { namespace, admin } = c;
  await c.createDevice('pico-hsm', { suspend: true });
  await c.untilPool('pico-hsm', ({ phase }) => phase === 'Pending');
  await admin.create(ServiceAccount, { metadata: { namespace, name: 'scanner' } });
  for (const [index, node] of c.nodes.entries()) {
    const report = reportFor('pico-hsm', node, `DC6A33145E23A42${index}`, c);
    await admin.create(Pod, {
      metadata: {
        namespace,
        name: `discovery-node${index + 1}`,
        labels: { 'app.kubernetes.io/component': 'discovery' },
        annotations: { 'hsm.j5t.io/device-report': report },
      },
      spec: { ...minimalSpec(node), serviceAccountName: 'scanner' },
    });
  }
  const pool = await c.untilPool('pico-hsm', ({ phase, totalDevices }) => phase === 'Ready' && totalDevices === 2);
  expect(pool.status?.availableDevices).toBe(2);
  expect(pool.status?.reportingPods?.map(({ podName, devicesFound, fresh }) => [podName, devicesFound, fresh])).toEqual(
    [
      ['discovery-node1', 1, true],
      ['discovery-node2', 1, true],
    ],
  );
  expect(await admin.find(DaemonSet, { namespace, name: 'pico-hsm-discovery' })).toBeUndefined();
});

/** The report of the seed document, for a node of the test. */
function reportFor(device: string, node: string, serialNumber: string, { clock }: HsmCluster): string {
  const now = formatMicroTime(clock.now());
  return JSON.stringify({
    hsmDeviceName: device,
    reportingNode: node,
    discoveredDevices: [{ devicePath: '/dev/bus/usb/001/015', serialNumber, lastSeen: now }],
    lastReportTime: now,
    discoveryStatus: 'completed',
  });
}

function minimalSpec(nodeName: string): PodSpec {
  return {
    nodeName,
    tolerations: [{ operator: 'Exists' }],
    containers: [{ name: 'discovery', image: 'example.test/scanner:1' }],
  };
}
