import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from './system-clock.ts';

const MAX_TIMEOUT_MS = 2 ** 31 - 1;

describe('systemClock', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('reads the wall clock and a monotonic clock', () => {
    const before = Date.now();
    const now = systemClock.now();
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(Date.now());
    const first = systemClock.monotonic();
    expect(systemClock.monotonic()).toBeGreaterThanOrEqual(first);
  });

  it('waits for longer than setTimeout can', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    let fired = 0;
    systemClock.setTimer(MAX_TIMEOUT_MS * 2 + 5000, () => fired++);
    vi.advanceTimersByTime(MAX_TIMEOUT_MS);
    vi.advanceTimersByTime(MAX_TIMEOUT_MS);
    expect(fired).toBe(0);
    vi.advanceTimersByTime(4998);
    expect(fired).toBe(0);
    // The monotonic clock has fractions of a millisecond; timeouts do not.
    vi.advanceTimersByTime(3);
    expect(fired).toBe(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('cancels a long timer after it has been rearmed', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    let fired = 0;
    const timer = systemClock.setTimer(MAX_TIMEOUT_MS + 5000, () => fired++);
    vi.advanceTimersByTime(MAX_TIMEOUT_MS);
    timer.cancel();
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(10_000);
    expect(fired).toBe(0);
  });

  it('never runs a cancelled or disposed timer', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    let fired = 0;
    systemClock.setTimer(10, () => fired++).cancel();
    {
      using _timer = systemClock.setTimer(10, () => fired++);
    }
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(100);
    expect(fired).toBe(0);
  });

  it('fires on real time, and at once for a negative delay', async () => {
    await new Promise<void>((resolve) => {
      systemClock.setTimer(-5, resolve);
    });
    await systemClock.sleep(1);
  });

  it('does not keep the process alive', () => {
    const before = countReferencedTimers();
    using _timer = systemClock.setTimer(60_000, () => {});
    expect(countReferencedTimers()).toBe(before);
  });

  it('wakes a sleeper when its signal is aborted', async () => {
    const stop = new AbortController();
    const asleep = systemClock.sleep(3_600_000, stop.signal);
    stop.abort(new Error('stop'));
    await expect(asleep).rejects.toThrow('stop');
  });
});

function countReferencedTimers(): number {
  return process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
}
