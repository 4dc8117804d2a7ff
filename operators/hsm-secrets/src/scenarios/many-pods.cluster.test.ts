import { Node, Pod } from '@bowline/kubernetes';
import { forEachConcurrently, formatMicroTime } from '@bowline/machinery';
import { findCondition } from '@bowline/runtime';
import { expect, it } from 'vitest';
import { LABELS, REPORT_ANNOTATION } from '../api/names.ts';
import { hsmCluster } from '../testing/hsm-cluster.test-support.ts';

const PODS = 200;
const MAX_STATUS_WRITES = 50;

it(`scenario 13 counts ${PODS} pods that report at once, with few writes`, async () => {
  await using c = await hsmCluster({ nodes: 0, config: { requireDaemonSetOwner: false } });
  const { namespace, admin } = c;
  await c.createDevice('pico', { suspend: true, maxDevices: 1_000 });
  await c.untilPool('pico', ({ phase }) => phase === 'Pending');
  const names = Array.from({ length: PODS }, (_, index) => `${namespace}-${String(index).padStart(3, '0')}`);
  c.onDispose(() => forEachConcurrently(names, 16, async (name) => void (await admin.delete(Node, { name }))));
  const created = await forEachConcurrently(names, 16, async (name) => {
    // No agent runs on these nodes, and no other pod is scheduled to them.
    await admin.create(Node, { metadata: { name }, spec: { taints: [{ key: 'hsm-node', effect: 'NoSchedule' }] } });
    const labels = { [LABELS.component]: 'discovery', [LABELS.device]: 'pico' };
    const spec = { nodeName: name, containers: [{ name: 'scanner', image: 'example.test/scanner:1' }] };
    await admin.create(Pod, { metadata: { namespace, name, labels }, spec });
  });
  expect(created).toEqual([]);
  await c.idle();

  const since = Date.now();
  const lastReportTime = formatMicroTime(c.clock.now());
  const reported = await forEachConcurrently(names, PODS, async (name) => {
    const discoveredDevices = [1, 2].map((port) => ({ devicePath: `/dev/${port}`, serialNumber: `${name}-${port}` }));
    const text = JSON.stringify({
      ...{ hsmDeviceName: 'pico', reportingNode: name, discoveredDevices, lastReportTime },
      discoveryStatus: 'completed',
    });
    const body = { metadata: { annotations: { [REPORT_ANNOTATION]: text } } };
    await admin.patch(Pod, { namespace, name }, { type: 'merge', body });
  });
  expect(reported).toEqual([]);
  const pool = await c.untilPool('pico', ({ totalDevices }) => totalDevices === 2 * PODS);
  expect(pool.status).toMatchObject({
    phase: 'Ready',
    availableDevices: 2 * PODS,
    expectedPods: PODS,
    reportingPodCount: PODS,
  });
  expect(pool.status?.reportingPods?.map(({ podName }) => podName)).toEqual(names);
  for (const type of ['Ready', 'ReportsFresh', 'ReportsValid', 'DevicesAvailable'])
    expect([type, findCondition(pool, type)?.status]).toEqual([type, 'True']);
  await c.idle();
  const writes = await c.writes(since);
  const statusWrites = writes.filter((write) => write.startsWith('patch hsmpools/status'));
  expect(statusWrites.length).toBeLessThanOrEqual(MAX_STATUS_WRITES);
  const events = writes.filter((write) => write.includes(' events '));
  expect(writes.length).toBe(statusWrites.length + events.length);
  expect((await c.eventsOf('pico-pool')).filter((reason) => reason !== 'DeviceDiscovered')).toEqual([]);
});
