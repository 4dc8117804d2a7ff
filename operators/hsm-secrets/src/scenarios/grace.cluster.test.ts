import { Pod, Secret } from '@bowline/kubernetes';
import { formatMicroTime } from '@bowline/machinery';
import { findCondition } from '@bowline/runtime';
import { describe, expect, it } from 'vitest';
import type { HSMPool } from '../api/hsm-pool.ts';
import { devicesIn, type HsmCluster, hsmCluster, podsIn } from '../testing/hsm-cluster.test-support.ts';

const GRACE_MS = 300_000;

/** A device on one node whose pod has reported. */
async function withReport(): Promise<{
  readonly c: HsmCluster;
  readonly pod: Pod;
  readonly name: string;
  readonly node: string;
}> {
  const c = await hsmCluster({ nodes: 1 });
  await c.createDevice('pico');
  const [node = ''] = c.nodes;
  const pod = await c.discoveryPod('pico', node);
  await c.report(pod, ['1']);
  await c.untilPool('pico', ({ phase }) => phase === 'Ready');
  await c.untilEvent('pico-pool', 'DeviceDiscovered');
  await c.until(Secret, { name: 'pico-agent-tls' }, () => true);
  await c.idle();
  return { c, pod, name: pod.metadata?.name ?? '', node };
}

/** Deletes a discovery pod whose replacement does not start. */
async function deletePod(c: HsmCluster, pod: Pod): Promise<void> {
  await c.nodeAgent.pods.hold();
  await c.admin.delete(Pod, { namespace: c.namespace, name: pod.metadata?.name ?? '' });
}

const stale = (pool: HSMPool): boolean => pool.status?.reportingPods?.some(({ fresh }) => !fresh) ?? false;

describe('when a reporting pod is deleted', () => {
  it('scenario 15 its device stays available for the grace period and listed for another, by timers alone', async () => {
    const { c, pod, name, node } = await withReport();
    await using _ = c;
    await deletePod(c, pod);
    const gone = await c.untilPool('pico', (_status, pool) => stale(pool));
    expect([podsIn(gone), devicesIn(gone)]).toEqual([[[name, false]], [['1', node, true, 'Stale']]]);
    await c.idle();
    await c.advanceTime(GRACE_MS);
    expect(devicesIn(await c.pool('pico'))).toEqual([['1', node, true, 'Stale']]);
    await c.advanceTime(1);
    const lost = await c.pool('pico');
    expect([podsIn(lost), devicesIn(lost)]).toEqual([[], [['1', node, false, 'Stale']]]);
    await c.untilEvent('pico-pool', 'DeviceLost');
    await c.advanceTime(GRACE_MS - 1);
    expect(devicesIn(await c.pool('pico'))).toHaveLength(1);
    await c.advanceTime(1);
    expect(devicesIn(await c.pool('pico'))).toEqual([]);
    await c.untilEvent('pico-pool', 'DeviceExpired');
  });

  it('scenario 16 its device is never unavailable if the pod is replaced within the grace period', async () => {
    const { c, pod, node } = await withReport();
    await using _ = c;
    const history: unknown[] = [];
    await c.admin.delete(Pod, { namespace: c.namespace, name: pod.metadata?.name ?? '' });
    const replacement = await c.discoveryPod('pico', node, pod);
    await c.report(replacement, [], { discoveryStatus: 'discovering' });
    history.push(devicesIn(await c.untilPool('pico', ({ reportingPods }) => reportingPods?.length === 2)));
    await c.advanceTime(GRACE_MS / 2);
    await c.report(replacement, ['1']);
    history.push(devicesIn(await c.untilPool('pico', ({ phase }) => phase === 'Ready')));
    await c.idle();
    await c.advanceTime(GRACE_MS / 2 + 1);
    const after = await c.pool('pico');
    expect(podsIn(after)).toEqual([[replacement.metadata?.name, true]]);
    history.push(devicesIn(after));
    expect(history).toEqual([1, 2, 3].map(() => [['1', node, true, 'Healthy']]));
    expect(await c.eventsOf('pico-pool')).not.toContain('DeviceLost');
  });

  it('scenario 19 a restarted manager continues the grace period at every stage, and writes nothing by itself', async () => {
    const { c, pod, node } = await withReport();
    await using _ = c;
    const restart = async (): Promise<void> => {
      const since = Date.now();
      await c.restart();
      await c.idle();
      // A warning that still holds is sent once more; the server rejects it as a duplicate.
      expect((await c.writes(since)).filter((write) => !write.startsWith('create events'))).toEqual([]);
    };
    await restart();
    await deletePod(c, pod);
    await c.untilPool('pico', (_status, pool) => stale(pool));
    await c.idle();
    await c.advanceTime(100_000);
    await restart();
    await c.advanceTime(GRACE_MS - 100_000);
    expect(devicesIn(await c.pool('pico'))).toEqual([['1', node, true, 'Stale']]);
    await c.advanceTime(1);
    expect(devicesIn(await c.pool('pico'))).toEqual([['1', node, false, 'Stale']]);
    await restart();
    await c.advanceTime(GRACE_MS - 1);
    expect(devicesIn(await c.pool('pico'))).toHaveLength(1);
    await c.advanceTime(1);
    expect(devicesIn(await c.pool('pico'))).toEqual([]);
    await restart();
  });
});

describe('a silent pod', () => {
  it('scenario 17 is fresh at the end of the grace period and stale a millisecond later', async () => {
    const { c, name, node } = await withReport();
    await using _ = c;
    await c.advanceTime(GRACE_MS);
    expect(podsIn(await c.pool('pico'))).toEqual([[name, true]]);
    await c.advanceTime(1);
    const silent = await c.pool('pico');
    expect([podsIn(silent), devicesIn(silent)]).toEqual([[[name, false]], [['1', node, false, 'Stale']]]);
    await c.untilEvent('pico-pool', 'ReportStale', name);
  });

  it('scenario 17 that reports again makes its device available at once', async () => {
    const { c, pod, node } = await withReport();
    await using _ = c;
    await c.advanceTime(GRACE_MS + 1);
    await c.report(pod, ['1']);
    const pool = await c.untilPool('pico', ({ availableDevices }) => availableDevices === 1);
    expect(devicesIn(pool)).toEqual([['1', node, true, 'Healthy']]);
    await c.untilEvent('pico-pool', 'DeviceReturned');
  });

  it('scenario 19 has at most two heartbeats after each start of a manager', async () => {
    const { c, name } = await withReport();
    await using _ = c;
    await c.advanceTime(GRACE_MS - 1);
    await c.restart();
    await c.idle();
    await c.advanceTime(120_000);
    expect(podsIn(await c.pool('pico'))).toEqual([[name, true]]);
    await c.advanceTime(1);
    expect(podsIn(await c.pool('pico'))).toEqual([[name, false]]);
  });
});

it('scenario 17 heartbeats write nothing', async () => {
  const { c, pod, node } = await withReport();
  await using _ = c;
  await c.createDevice('fence', { discovery: { usb: [{ vendorId: '20a0', productId: '4230' }] } });
  const fence = await c.discoveryPod('fence', node);
  await c.until(Secret, { name: 'fence-agent-tls' }, () => true);
  // The manager observes the pods in order: once it shows this report, it has observed every earlier one.
  const untilObserved = async (serial: string): Promise<void> => {
    await c.report(fence, [serial]);
    await c.untilPool('fence', (_status, pool) =>
      devicesIn(pool).some(([id, , available]) => id === serial && available),
    );
    await c.idle();
  };
  await untilObserved('later-0');
  const before = await c.pool('pico');
  const since = Date.now();
  for (let beat = 1; beat <= 12; beat += 1) {
    await c.advanceTime(60_000);
    await c.report(pod, ['1']);
    await untilObserved(`later-${beat}`);
  }
  expect((await c.pool('pico')).metadata?.resourceVersion).toBe(before.metadata?.resourceVersion);
  expect((await c.writes(since)).filter((write) => !/fence|create events/.test(write))).toEqual([]);
});

it.each([
  ['ahead', 600_000],
  ['behind', -600_000],
])('scenario 18 a clock that is ten minutes %s is reported, and changes nothing else', async (_, aheadMs) => {
  const { c, pod, name, node } = await withReport();
  await using _c = c;
  const lastReportTime = (): string => formatMicroTime(c.clock.now() + aheadMs);
  await c.report(pod, ['1'], { lastReportTime: lastReportTime() });
  const skewed = await c.untilPool('pico', (_status, pool) => findCondition(pool, 'ClockSkew') !== undefined);
  expect(findCondition(skewed, 'ClockSkew')?.message).toContain(node);
  await c.idle();
  await c.advanceTime(GRACE_MS);
  const pool = await c.pool('pico');
  expect([podsIn(pool), devicesIn(pool)]).toEqual([[[name, true]], [['1', node, true, 'Healthy']]]);
  await c.report(pod, ['1']);
  await c.untilPool('pico', (_status, each) => findCondition(each, 'ClockSkew') === undefined);
});

it('scenario 20 a device that its node reports as missing or unavailable is so at once, and returns', async () => {
  const { c, pod, node } = await withReport();
  await using _ = c;
  await c.report(pod, []);
  expect(devicesIn(await c.untilPool('pico', ({ availableDevices }) => availableDevices === 0))).toEqual([
    ['1', node, false, 'Unplugged'],
  ]);
  await c.report(pod, ['1']);
  await c.untilPool('pico', ({ availableDevices }) => availableDevices === 1);
  await c.untilEvent('pico-pool', 'DeviceReturned');
  await c.report(pod, [{ devicePath: '/dev/bus/usb/001/001', serialNumber: '1', available: false }]);
  expect(devicesIn(await c.untilPool('pico', ({ availableDevices }) => availableDevices === 0))).toEqual([
    ['1', node, false, 'Unknown'],
  ]);
});

it('scenario 21 a serial number that moves to another node stays one device', async () => {
  await using c = await hsmCluster();
  await c.createDevice('pico');
  const [a = '', b = ''] = c.nodes;
  const [first, second] = [await c.discoveryPod('pico', a), await c.discoveryPod('pico', b)];
  await c.report(first, ['1']);
  await c.report(second, []);
  await c.untilPool('pico', ({ phase }) => phase === 'Ready');
  await c.report(first, []);
  await c.report(second, ['1']);
  const moved = await c.untilPool('pico', (_, pool) => devicesIn(pool)[0]?.[1] === b);
  expect(devicesIn(moved)).toEqual([['1', b, true, 'Healthy']]);
  await c.untilEvent('pico-pool', 'DeviceMigrated', b);
});
