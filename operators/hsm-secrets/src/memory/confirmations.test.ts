import { formatMicroTime, VirtualClock } from '@bowline/machinery';
import { describe, expect, it } from 'vitest';
import type { PodRow } from '../api/hsm-pool.ts';
import { heartbeatMs } from '../reports/heartbeat.ts';
import { Confirmations } from './confirmations.ts';

const GRACE = 300_000;
const FIRST = '2020-01-01T00:00:00Z';
const SECOND = '2020-01-01T00:01:00Z';

function start() {
  const clock = new VirtualClock();
  return { clock, confirmations: new Confirmations(clock), begin: clock.now() };
}

/** The time of the manager's clock, or of a clock that is ahead of it. */
function at(clock: VirtualClock, aheadMs = 0): string {
  return formatMicroTime(clock.now() + aheadMs);
}

/** A report whose version is its time. */
function report(podUID: string, lastReportTime: string) {
  return { podUID, version: lastReportTime, lastReportTime };
}

function row(fresh: boolean, observedAt: number): PodRow {
  return {
    podName: 'p',
    podUID: 'u',
    nodeName: 'n',
    devicesFound: 1,
    lastReportTime: FIRST,
    observedTime: formatMicroTime(observedAt),
    discoveryStatus: 'completed',
    fresh,
  };
}

it.each([
  [300_000, 60_000],
  [60_000, 20_000],
  [3_000, 1_000],
  [86_400_000, 60_000],
])('expects a report in a grace period of %i ms every %i ms', (grace, heartbeat) => {
  expect(heartbeatMs(grace)).toBe(heartbeat);
});

describe('a report', () => {
  it('is confirmed when it appears and whenever it changes, by the clock of the manager', async () => {
    const { clock, confirmations, begin } = start();
    confirmations.observe(report('u', FIRST), undefined, GRACE);
    await clock.advance(10_000);
    confirmations.observe(report('u', FIRST), undefined, GRACE);
    expect(confirmations.confirmedAt('u')).toBe(begin);
    confirmations.observe(report('u', SECOND), undefined, GRACE);
    expect(confirmations.confirmedAt('u')).toBe(begin + 10_000);
  });

  it('is confirmed once more when its pod is gone', async () => {
    const { clock, confirmations, begin } = start();
    confirmations.observe(report('u', FIRST), undefined, GRACE);
    await clock.advance(10_000);
    confirmations.observeGone(row(true, begin));
    await clock.advance(10_000);
    confirmations.observeGone(row(false, begin + 10_000));
    expect(confirmations.confirmedAt('u')).toBe(begin + 10_000);
  });

  it('of pods that no longer matter is forgotten', () => {
    const { confirmations } = start();
    confirmations.observe(report('a', FIRST), undefined, GRACE);
    confirmations.forget('a');
    expect(confirmations.confirmedAt('a')).toBeUndefined();
  });

  it('wakes the pool in which its pod was stale, once', async () => {
    const { clock, confirmations } = start();
    confirmations.observe(report('a', at(clock)), undefined, GRACE);
    await clock.advance(GRACE + 1);
    confirmations.wakeWithNextReport('a', 'ns/pool');
    const late = report('a', at(clock));
    expect(confirmations.heartbeat(late, 'ns/other')).toBe('ns/pool');
    expect(confirmations.heartbeat(late, 'ns/other')).toBeUndefined();
    await clock.advance(1_000);
    expect(confirmations.heartbeat(report('a', at(clock)), 'ns/other')).toBeUndefined();
  });

  it('of a pod that the pool has not observed yet is left to the pool', () => {
    const { confirmations } = start();
    expect(confirmations.heartbeat(report('a', FIRST), 'ns/pool')).toBeUndefined();
    expect(confirmations.confirmedAt('a')).toBeUndefined();
  });

  it('tells whether the clock of its node is off, and wakes the pool when that changes', async () => {
    const { clock, confirmations } = start();
    confirmations.observe(report('a', FIRST), undefined, GRACE);
    expect(confirmations.hasClockSkew('a')).toBeUndefined();
    await clock.advance(1_000);
    expect(confirmations.heartbeat(report('a', at(clock, 30_000)), 'ns/pool')).toBeUndefined();
    expect(confirmations.hasClockSkew('a')).toBe(false);
    expect(confirmations.heartbeat(report('a', at(clock, 30_001)), 'ns/pool')).toBe('ns/pool');
    expect(confirmations.hasClockSkew('a')).toBe(true);
    expect(confirmations.heartbeat(report('a', at(clock, -30_001)), 'ns/pool')).toBeUndefined();
    expect(confirmations.heartbeat(report('a', at(clock)), 'ns/pool')).toBe('ns/pool');
  });
});

describe('after an outage of the API server', () => {
  it('fresh reports have two heartbeats to be confirmed, and stale ones stay stale', async () => {
    const { clock, confirmations, begin } = start();
    confirmations.observe(report('u', FIRST), undefined, GRACE);
    await clock.advance(2 * GRACE);
    confirmations.endOutage('ns/pool', [row(true, begin)], GRACE);
    expect(confirmations.confirmedAt('u')).toBe(begin);
    confirmations.beginOutage('ns/pool');
    confirmations.endOutage('ns/pool', [row(false, begin)], GRACE);
    expect(confirmations.confirmedAt('u')).toBe(begin);
    confirmations.beginOutage('ns/pool');
    confirmations.endOutage('ns/pool', [row(true, begin)], GRACE);
    expect((confirmations.confirmedAt('u') ?? 0) + GRACE).toBe(clock.now() + 120_000);
  });
});

describe('after a start', () => {
  it('a fresh report has two heartbeats to be confirmed', () => {
    const { confirmations, begin } = start();
    confirmations.observe(report('u', FIRST), row(true, begin - 10 * GRACE), GRACE);
    expect((confirmations.confirmedAt('u') ?? 0) + GRACE).toBe(begin + 120_000);
  });

  it('a stale report stays stale until it changes', () => {
    const { confirmations, begin } = start();
    const stale = row(false, begin - 2 * GRACE);
    confirmations.observe(report('u', FIRST), stale, GRACE);
    expect(confirmations.confirmedAt('u')).toBe(begin - 2 * GRACE);
    confirmations.observe(report('u', SECOND), stale, GRACE);
    expect(confirmations.confirmedAt('u')).toBe(begin);
  });

  it('a stale report that has changed in the meantime is confirmed', () => {
    const { confirmations, begin } = start();
    confirmations.observe(report('u', SECOND), row(false, begin - 2 * GRACE), GRACE);
    expect(confirmations.confirmedAt('u')).toBe(begin);
  });

  it('the grace period of a pod that disappeared before continues, and of one that disappeared meanwhile begins', () => {
    const { confirmations, begin } = start();
    confirmations.observeGone(row(false, begin - 1_000));
    expect(confirmations.confirmedAt('u')).toBe(begin - 1_000);
    const other = start();
    other.confirmations.observeGone(row(true, begin - 10 * GRACE));
    expect(other.confirmations.confirmedAt('u')).toBe(other.begin);
  });
});

describe('a report that does not count', () => {
  it('confirms nothing, and the next one that counts does', async () => {
    const { clock, confirmations, begin } = start();
    confirmations.observe(report('u', FIRST), undefined, GRACE);
    await clock.advance(1_000);
    confirmations.observeRefused(row(true, begin), GRACE);
    confirmations.heartbeat(report('u', SECOND), 'pool');
    expect(confirmations.confirmedAt('u')).toBe(begin);
    confirmations.observe(report('u', SECOND), row(true, begin), GRACE);
    expect(confirmations.confirmedAt('u')).toBe(begin + 1_000);
  });

  it.each([
    ['fresh', true, -GRACE + 2 * 60_000],
    ['stale', false, -500_000],
  ])('gives a pod that was %s as much time after a start as one that counts', (_, fresh, offset) => {
    const { confirmations, begin } = start();
    confirmations.observeRefused(row(fresh, begin - 500_000), GRACE);
    expect(confirmations.confirmedAt('u')).toBe(begin + offset);
  });
});

it('remembers when it observed a report, also if the pod has less time after a start', async () => {
  const { clock, confirmations, begin } = start();
  confirmations.observe(report('u', FIRST), row(true, begin), GRACE);
  await clock.advance(1_000);
  expect([confirmations.observedAt('u'), confirmations.observedAt('v')]).toEqual([begin, undefined]);
  confirmations.observe(report('u', SECOND), row(true, begin), GRACE);
  expect(confirmations.observedAt('u')).toBe(begin + 1_000);
});

it('gives no more time after an outage that ended with new reports', async () => {
  const { clock, confirmations, begin } = start();
  confirmations.observe(report('u', FIRST), undefined, GRACE);
  confirmations.beginOutage('pool');
  confirmations.forgetOutage('pool');
  await clock.advance(GRACE);
  confirmations.endOutage('pool', [row(true, begin)], GRACE);
  expect(confirmations.confirmedAt('u')).toBe(begin);
});
