import { formatMicroTime } from '@bowline/machinery';
import { describe, expect, it } from 'vitest';
import type { DeviceRow, PodRow } from '../api/hsm-pool.ts';
import type { Report, ReportedDevice } from '../reports/report.ts';
import { type Aggregation, aggregate } from './aggregate.ts';
import type { ObservedPod } from './aggregation-input.ts';

const GRACE = 300_000;
const START = Date.parse('2025-08-19T10:00:00Z');

function found(serialNumber: string | undefined, change: Partial<ReportedDevice> = {}): ReportedDevice {
  return {
    devicePath: '/dev/bus/usb/001/015',
    serialNumber,
    lastSeen: undefined,
    nodeName: '',
    available: true,
    deviceInfo: undefined,
    ...change,
  };
}

function pod(
  nodeName: string,
  devices: readonly ReportedDevice[] | undefined,
  change: Partial<Report> = {},
): ObservedPod {
  const report: Report | undefined = devices && {
    hsmDeviceName: 'pico',
    reportingNode: nodeName,
    discoveredDevices: devices,
    lastReportTime: '2020-01-01T00:00:00Z',
    discoveryStatus: 'completed',
    error: undefined,
    ...change,
  };
  return { name: `discovery-${nodeName}`, uid: `uid-${nodeName}`, nodeName, report };
}

/** Pool aggregates one state after the other, as the controller does. */
class Pool {
  #last: Aggregation = { pods: [], devices: [], duplicates: [], nextChangeAt: undefined };
  readonly #confirmed = new Map<string, number>();
  claimed = new Set<string>();

  /** observe aggregates at a time after the start. The reports of `confirmed` pods changed at this time. */
  observe(afterMs: number, pods: readonly ObservedPod[], confirmed: readonly string[] = []): Aggregation {
    const now = START + afterMs;
    for (const { uid } of pods) if (!this.#confirmed.has(uid)) this.#confirmed.set(uid, now);
    for (const node of confirmed) this.#confirmed.set(`uid-${node}`, now);
    for (const row of this.#last.pods)
      if (row.fresh && !pods.some(({ uid }) => uid === row.podUID)) this.#confirmed.set(row.podUID, now);
    this.#last = aggregate({
      now,
      gracePeriodMs: GRACE,
      livePods: pods,
      confirmedAt: (uid) => this.#confirmed.get(uid),
      previous: this.#last,
      claimedSerials: this.claimed,
    });
    return this.#last;
  }
}

const summary = ({ devices }: Aggregation) =>
  devices.map(({ id, nodeName, available, health }: DeviceRow) => [id, nodeName, available, health]);
const rows = ({ pods }: Aggregation) => pods.map(({ podName, fresh }: PodRow) => [podName, fresh]);

describe('devices', () => {
  it('are those of the reports, ordered by serial number', () => {
    const result = new Pool().observe(0, [pod('b', [found('2')]), pod('a', [found('1'), found(undefined)])]);
    expect(summary(result)).toEqual([
      ['1', 'a', true, 'Healthy'],
      ['2', 'b', true, 'Healthy'],
      ['a:/dev/bus/usb/001/015', 'a', true, 'Healthy'],
    ]);
    expect(result.devices[0]?.resourceName).toBe('hsm.j5t.io/1');
    expect(rows(result)).toEqual([
      ['discovery-a', true],
      ['discovery-b', true],
    ]);
  });

  it('stay available for the grace period after their pod is gone, and listed for another', () => {
    const pool = new Pool();
    pool.observe(0, [pod('a', [found('1')])]);
    const gone = pool.observe(1_000, []);
    expect([rows(gone), summary(gone)]).toEqual([[['discovery-a', false]], [['1', 'a', true, 'Stale']]]);
    expect(gone.nextChangeAt).toBe(START + 1_000 + GRACE + 1);
    expect(summary(pool.observe(1_000 + GRACE, []))).toEqual([['1', 'a', true, 'Stale']]);
    const lost = pool.observe(1_000 + GRACE + 1, []);
    expect([rows(lost), summary(lost)]).toEqual([[], [['1', 'a', false, 'Stale']]]);
    expect(lost.devices[0]?.lostSince).toBe(formatMicroTime(START + 1_000 + GRACE));
    expect(summary(pool.observe(1_000 + 2 * GRACE, []))).toHaveLength(1);
    const removed = pool.observe(1_000 + 2 * GRACE + 1, []);
    expect([summary(removed), removed.nextChangeAt]).toEqual([[], undefined]);
  });

  it('stay as they are while a pod is replaced', () => {
    const pool = new Pool();
    pool.observe(0, [pod('a', [found('1')])]);
    pool.observe(1_000, []);
    const replacement = { ...pod('a', [], { discoveryStatus: 'discovering' }), name: 'new', uid: 'uid-new' };
    expect(summary(pool.observe(2_000, [replacement]))).toEqual([['1', 'a', true, 'Healthy']]);
    expect(summary(pool.observe(3_000, [{ ...pod('a', [found('1')]), name: 'new', uid: 'uid-new' }]))).toEqual([
      ['1', 'a', true, 'Healthy'],
    ]);
  });

  it('become unavailable at once when their node reports them as missing or unavailable, and return', () => {
    const pool = new Pool();
    pool.observe(0, [pod('a', [found('1'), found('2', { available: false })])]);
    const unplugged = pool.observe(5_000, [pod('a', [found('2', { available: false })])], ['a']);
    expect(summary(unplugged)).toEqual([
      ['1', 'a', false, 'Unplugged'],
      ['2', 'a', false, 'Unknown'],
    ]);
    expect(unplugged.devices.map(({ lostSince }) => lostSince)).toEqual([
      formatMicroTime(START + 5_000),
      formatMicroTime(START),
    ]);
    const back = pool.observe(6_000, [pod('a', [found('1'), found('2')])], ['a']);
    expect(back.devices.map(({ available, lostSince }) => [available, lostSince])).toEqual([
      [true, undefined],
      [true, undefined],
    ]);
  });

  it('that a report has as unavailable stay listed as long as it has them', () => {
    const pool = new Pool();
    for (let minute = 0; minute < 30; minute += 1) {
      const result = pool.observe(minute * 60_000, [pod('a', [found('1', { available: false })])], ['a']);
      expect(result.devices.map(({ lostSince }) => lostSince)).toEqual([formatMicroTime(START)]);
    }
  });

  it('do not change with a failed search or a report that does not count', () => {
    const pool = new Pool();
    pool.observe(0, [pod('a', [found('1')])]);
    expect(
      summary(pool.observe(1_000, [pod('a', [], { discoveryStatus: 'error', error: 'no sysfs' })], ['a'])),
    ).toEqual([['1', 'a', true, 'Healthy']]);
    expect(summary(pool.observe(2_000, [pod('a', undefined)]))).toEqual([['1', 'a', true, 'Healthy']]);
    expect(rows(pool.observe(1_000 + GRACE, [pod('a', undefined)]))).toEqual([['discovery-a', true]]);
    expect(rows(pool.observe(1_000 + GRACE + 1, [pod('a', undefined)]))).toEqual([['discovery-a', false]]);
  });
});

describe('a silent pod', () => {
  it('is fresh at the end of the grace period and stale a millisecond later, and keeps its row', () => {
    const pool = new Pool();
    const silent = [pod('a', [found('1')])];
    expect(pool.observe(0, silent).nextChangeAt).toBe(START + GRACE + 1);
    expect(rows(pool.observe(GRACE, silent))).toEqual([['discovery-a', true]]);
    const stale = pool.observe(GRACE + 1, silent);
    expect([rows(stale), summary(stale)]).toEqual([[['discovery-a', false]], [['1', 'a', false, 'Stale']]]);
    expect(rows(pool.observe(10 * GRACE, silent))).toEqual([['discovery-a', false]]);
  });
});

describe('a serial number on two nodes', () => {
  it('stays with the node that has it, until its own report lacks it', () => {
    const pool = new Pool();
    pool.observe(0, [pod('b', [found('1')])]);
    const both = pool.observe(1_000, [pod('b', [found('1')]), pod('a', [found('1')])]);
    expect(summary(both)).toEqual([['1', 'b', true, 'Healthy']]);
    expect(both.duplicates).toEqual([{ serialNumber: '1', nodeName: 'b', otherNodes: ['a'] }]);
    const moved = pool.observe(2_000, [pod('b', []), pod('a', [found('1')])], ['b']);
    expect([summary(moved), moved.duplicates]).toEqual([[['1', 'a', true, 'Healthy']], []]);
  });

  it('stays with the node that has it while its pod restarts, and moves when its grace period has ended', () => {
    const pool = new Pool();
    const other = [pod('a', [found('1')])];
    pool.observe(0, [pod('b', [found('1')])]);
    expect(summary(pool.observe(1_000, other))).toEqual([['1', 'b', true, 'Stale']]);
    expect(summary(pool.observe(1_000 + GRACE, other, ['a']))).toEqual([['1', 'b', true, 'Stale']]);
    expect(summary(pool.observe(1_000 + GRACE + 1, other))).toEqual([['1', 'a', true, 'Healthy']]);
  });

  it('goes to the lower name of two nodes that report it first', () => {
    const both = new Pool().observe(0, [pod('b', [found('1')]), pod('a', [found('1')])]);
    expect([summary(both), both.duplicates]).toEqual([
      [['1', 'a', true, 'Healthy']],
      [{ serialNumber: '1', nodeName: 'a', otherNodes: ['b'] }],
    ]);
  });
});

it('does not use a device that belongs to another pool', () => {
  const pool = new Pool();
  pool.claimed.add('1');
  expect(summary(pool.observe(0, [pod('a', [found('1')])]))).toEqual([['1', 'a', false, 'Claimed']]);
  pool.claimed.clear();
  expect(summary(pool.observe(1_000, [pod('a', [found('1')])]))).toEqual([['1', 'a', true, 'Healthy']]);
});

it('counts the time since a device was lost from when its report was observed, also after a start', () => {
  const before = new Pool().observe(0, [pod('a', [found('1')])]);
  const now = START + 1_000_000;
  const { devices } = aggregate({
    now,
    gracePeriodMs: GRACE,
    livePods: [pod('a', [])],
    // After a start, the pod has only two heartbeats left.
    confirmedAt: () => now - GRACE + 120_000,
    observedAt: () => now,
    previous: before,
    claimedSerials: new Set(),
  });
  expect(devices).toMatchObject([{ available: false, health: 'Unplugged', lostSince: formatMicroTime(now) }]);
});
