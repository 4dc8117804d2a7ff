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
    confirmations.observe('u', FIRST, undefined, GRACE);
    await clock.advance(10_000);
    confirmations.observe('u', FIRST, undefined, GRACE);
    expect(confirmations.confirmedAt('u')).toBe(begin);
    confirmations.observe('u', SECOND, undefined, GRACE);
    expect(confirmations.confirmedAt('u')).toBe(begin + 10_000);
  });

  it('is confirmed once more when its pod is gone', async () => {
    const { clock, confirmations, begin } = start();
    confirmations.observe('u', FIRST, undefined, GRACE);
    await clock.advance(10_000);
    confirmations.observeGone(row(true, begin));
    await clock.advance(10_000);
    confirmations.observeGone(row(false, begin + 10_000));
    expect(confirmations.confirmedAt('u')).toBe(begin + 10_000);
  });

  it('of pods that no longer matter is forgotten', () => {
    const { confirmations } = start();
    confirmations.observe('a', FIRST, undefined, GRACE);
    confirmations.observe('b', FIRST, undefined, GRACE);
    confirmations.keepOnly(new Set(['b']));
    expect([confirmations.confirmedAt('a'), confirmations.confirmedAt('b') !== undefined]).toEqual([undefined, true]);
  });
});

describe('after a start', () => {
  it('a fresh report has two heartbeats to be confirmed', () => {
    const { confirmations, begin } = start();
    confirmations.observe('u', FIRST, row(true, begin - 10 * GRACE), GRACE);
    expect((confirmations.confirmedAt('u') ?? 0) + GRACE).toBe(begin + 120_000);
  });

  it('a stale report stays stale until it changes', () => {
    const { confirmations, begin } = start();
    const stale = row(false, begin - 2 * GRACE);
    confirmations.observe('u', FIRST, stale, GRACE);
    expect(confirmations.confirmedAt('u')).toBe(begin - 2 * GRACE);
    confirmations.observe('u', SECOND, stale, GRACE);
    expect(confirmations.confirmedAt('u')).toBe(begin);
  });

  it('a stale report that has changed in the meantime is confirmed', () => {
    const { confirmations, begin } = start();
    confirmations.observe('u', SECOND, row(false, begin - 2 * GRACE), GRACE);
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
