import { Pod } from '@bowline/kubernetes';
import { forEachConcurrently, formatMicroTime } from '@bowline/machinery';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { atScale } from '../../../../test/support/at-scale.ts';
import { HSMPool } from '../api/hsm-pool.ts';
import { LABELS, REPORT_ANNOTATION } from '../api/names.ts';
import { type HsmCluster, hsmCluster } from '../testing/hsm-cluster.test-support.ts';

const POOLS = atScale(100);
const PODS_PER_POOL = 5;
const PODS = POOLS * PODS_PER_POOL;
const TEN_MINUTES_MS = 600_000;
/** With the minute before the test, shorter than the grace period. */
const HEARTBEAT_MS = 230_000;

interface ReportingPod {
  readonly name: string;
  readonly device: string;
  readonly node: string;
}

let c: HsmCluster;
let pods: readonly ReportingPod[];
beforeAll(async () => {
  // On a busy machine, the Lease could be lost while everything is created; it is not part of this test.
  c = await hsmCluster({
    nodes: PODS_PER_POOL,
    config: { requireDaemonSetOwner: false },
    leaderElection: false,
    // So many objects would slow down the tests that share a control plane.
    isolation: 'control-plane',
  });
  const { namespace } = c;
  // Pods on a node that does not run them cost nothing.
  await c.nodeAgent.pods.hold();
  const devices = Array.from({ length: POOLS }, (_, index) => `steady-${String(index).padStart(2, '0')}`);
  const usb = [{ vendorId: '20a0', productId: '4230' }];
  const nodeSelector = { 'example.test/none': namespace };
  const created = await forEachConcurrently(devices, 16, async (device) => {
    await c.createDevice(device, { discovery: { usb }, nodeSelector });
  });
  expect(created).toEqual([]);
  pods = devices.flatMap((device) => c.nodes.map((node, index) => ({ name: `${device}-${index}`, device, node })));
  expect(await forEachConcurrently(pods, 32, createPod)).toEqual([]);
  const isReady = ({ status }: HSMPool): boolean =>
    status?.phase === 'Ready' && status.availableDevices === PODS_PER_POOL;
  await c.untilList(HSMPool, {}, (pools) => pools.length === POOLS && pools.every(isReady));
  await settled('seen');
  // What was delayed is sent.
  await c.advanceTime(60_000);
  await settled('before');
});
afterAll(() => c[Symbol.asyncDispose]());

function reportOf({ name, device, node }: ReportingPod): string {
  return JSON.stringify({
    hsmDeviceName: device,
    reportingNode: node,
    discoveredDevices: [{ devicePath: '/dev/bus/usb/001/002', serialNumber: name }],
    lastReportTime: formatMicroTime(c.clock.now()),
    discoveryStatus: 'completed',
  });
}

async function createPod(pod: ReportingPod): Promise<void> {
  const { name, node } = pod;
  const { namespace } = c;
  // Without the label of the device, so that its DaemonSet does not adopt them.
  const labels = { [LABELS.component]: 'discovery' };
  const annotations = { [REPORT_ANNOTATION]: reportOf(pod) };
  const spec = { nodeName: node, containers: [{ name: 'scanner', image: 'example.test/scanner:1' }] };
  await c.admin.create(Pod, { metadata: { namespace, name, labels, annotations }, spec });
}

/** Waits until everything so far was observed and sent: a later report is in its pool, and a later event exists. */
async function settled(device: string): Promise<void> {
  await c.createDevice(device, { suspend: true, discovery: { usb: [{ vendorId: '20a0', productId: '4230' }] } });
  await createPod({ name: device, device, node: c.nodes[0] ?? '' });
  await c.untilPool(device, ({ availableDevices }) => availableDevices === 1);
  await c.untilEvent(device, 'PoolCreated');
  await c.untilEvent(`${device}-pool`, 'DeviceDiscovered');
  await c.idle();
}

async function versions(): Promise<ReadonlyMap<string | undefined, string | undefined>> {
  const { items } = await c.admin.list(HSMPool, { namespace: c.namespace });
  const steady = items.filter(({ metadata }) => metadata?.name?.startsWith('steady-'));
  return new Map(steady.map(({ metadata }) => [metadata?.name, metadata?.resourceVersion]));
}

it(`writes nothing in ten minutes with ${POOLS} pools and ${PODS} pods that report on time`, async () => {
  const before = await versions();
  const since = Date.now();
  for (let elapsed = HEARTBEAT_MS; elapsed <= TEN_MINUTES_MS; elapsed += HEARTBEAT_MS) {
    await c.advanceTime(HEARTBEAT_MS, 10_000);
    const beats = await forEachConcurrently(pods, 32, async (pod) => {
      const body = { metadata: { annotations: { [REPORT_ANNOTATION]: reportOf(pod) } } };
      await c.admin.patch(Pod, { namespace: c.namespace, name: pod.name }, { type: 'merge', body });
    });
    expect(beats).toEqual([]);
    await settled(`beat-${elapsed}`);
  }
  await c.advanceTime(TEN_MINUTES_MS % HEARTBEAT_MS);
  const after = await versions();
  for (const [name, version] of before) expect([name, after.get(name)]).toEqual([name, version]);
  expect((await c.writes(since)).filter((write) => !/\/(?:seen|before|beat-)/.test(write))).toEqual([]);
});

it(`writes nothing after a restart with ${POOLS} pools and ${PODS} pods`, async () => {
  const before = await versions();
  const since = Date.now();
  await c.restart();
  await settled('restarted');
  const after = await versions();
  for (const [name, version] of before) expect([name, after.get(name)]).toEqual([name, version]);
  expect((await c.writes(since)).filter((write) => !/\/(?:seen|before|beat-|restarted)/.test(write))).toEqual([]);
}, 60_000);
