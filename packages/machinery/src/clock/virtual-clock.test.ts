import { describe, expect, it } from 'vitest';
import { VirtualClock } from './virtual-clock.ts';

describe('VirtualClock', () => {
  it('starts at the given time and moves only when advanced', async () => {
    const clock = new VirtualClock({ startMs: 1000 });
    expect([clock.now(), clock.monotonic()]).toEqual([1000, 0]);
    await clock.advance(250);
    expect([clock.now(), clock.monotonic()]).toEqual([1250, 250]);
  });

  it('starts in 2026 by default', () => {
    expect(new Date(new VirtualClock().now()).toISOString()).toBe('2026-01-01T00:00:00.000Z');
  });

  it('runs a timer at its deadline and not before', async () => {
    const clock = new VirtualClock();
    const fired: number[] = [];
    clock.setTimer(100, () => fired.push(clock.monotonic()));
    await clock.advance(99);
    expect(fired).toEqual([]);
    await clock.advance(1);
    expect(fired).toEqual([100]);
  });

  it('runs timers by deadline, and equal deadlines in the order they were set', async () => {
    const clock = new VirtualClock();
    const fired: string[] = [];
    clock.setTimer(20, () => fired.push('late'));
    clock.setTimer(10, () => fired.push('first'));
    clock.setTimer(10, () => fired.push('second'));
    clock.setTimer(10, () => fired.push('third'));
    await clock.advance(20);
    expect(fired).toEqual(['first', 'second', 'third', 'late']);
  });

  it('runs a timer set by a timer within the same advance, at its own time', async () => {
    const clock = new VirtualClock();
    const fired: [string, number][] = [];
    clock.setTimer(10, () => {
      fired.push(['outer', clock.monotonic()]);
      clock.setTimer(5, () => fired.push(['inner', clock.monotonic()]));
    });
    clock.setTimer(12, () => fired.push(['between', clock.monotonic()]));
    await clock.advance(15);
    expect(fired).toEqual([
      ['outer', 10],
      ['between', 12],
      ['inner', 15],
    ]);
  });

  it('runs every iteration of a sleeping loop that fits into an advance', async () => {
    const clock = new VirtualClock();
    const turns: number[] = [];
    const stop = new AbortController();
    const loop = (async () => {
      for (;;) {
        await clock.sleep(1000, stop.signal);
        turns.push(clock.monotonic());
      }
    })();
    await clock.advance(3500);
    expect(turns).toEqual([1000, 2000, 3000]);
    stop.abort(new Error('enough'));
    await expect(loop).rejects.toThrow('enough');
    expect(clock.pendingTimers).toBe(0);
  });

  it('accepts timers beyond 2^31 ms', async () => {
    const clock = new VirtualClock();
    let fired = 0;
    clock.setTimer(2 ** 31 + 5, () => fired++);
    await clock.advance(2 ** 31);
    expect(fired).toBe(0);
    await clock.advance(5);
    expect(fired).toBe(1);
  });

  it('never runs a cancelled timer, and keeps none after cancel, dispose or firing', async () => {
    const clock = new VirtualClock();
    let fired = 0;
    const cancelled = clock.setTimer(1, () => fired++);
    {
      using _disposed = clock.setTimer(1, () => fired++);
    }
    const kept = clock.setTimer(1, () => fired++);
    expect(clock.pendingTimers).toBe(2);
    cancelled.cancel();
    expect(clock.pendingTimers).toBe(1);
    await clock.advance(1);
    expect(fired).toBe(1);
    expect(clock.pendingTimers).toBe(0);
    kept.cancel();
    expect(clock.pendingTimers).toBe(0);
  });

  it('does not run a timer that an earlier one of the same deadline cancelled', async () => {
    const clock = new VirtualClock();
    let fired = 0;
    clock.setTimer(1, () => second.cancel());
    const second = clock.setTimer(1, () => fired++);
    await clock.advance(1);
    expect(fired).toBe(0);
  });

  it.each([0, -5, Number.NaN])('treats a delay of %s as due now, without moving time', async (delayMs) => {
    const clock = new VirtualClock();
    let fired = 0;
    clock.setTimer(delayMs, () => fired++);
    expect(fired).toBe(0);
    await clock.advance(0);
    expect(fired).toBe(1);
    expect(clock.monotonic()).toBe(0);
  });

  it('returns the time until the next timer', async () => {
    const clock = new VirtualClock();
    expect(clock.nextDueInMs).toBeUndefined();
    clock.setTimer(30, () => {});
    clock.setTimer(10, () => {});
    expect(clock.nextDueInMs).toBe(10);
    await clock.advance(15);
    expect(clock.nextDueInMs).toBe(15);
  });

  it.each([-1, Number.NaN])('rejects to advance by %s', async (ms) => {
    await expect(new VirtualClock().advance(ms)).rejects.toThrow(RangeError);
  });
});

describe('sleep', () => {
  it('rejects immediately with the reason when aborted during a sleep, and leaves no timer or listener', async () => {
    const clock = new VirtualClock();
    const stop = new AbortController();
    const asleep = clock.sleep(60_000, stop.signal);
    expect(clock.pendingTimers).toBe(1);
    const reason = new Error('stop');
    stop.abort(reason);
    await expect(asleep).rejects.toBe(reason);
    expect(clock.pendingTimers).toBe(0);
  });

  it('rejects immediately when the signal is already aborted', async () => {
    const clock = new VirtualClock();
    const reason = new Error('already');
    await expect(clock.sleep(1, AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(clock.pendingTimers).toBe(0);
  });

  it('removes its listener from the signal when the sleep ends', async () => {
    const clock = new VirtualClock();
    const stop = new AbortController();
    let listeners = 0;
    const { signal } = stop;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners++;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners--;
      remove(...args);
    };
    const asleep = clock.sleep(10, signal);
    expect(listeners).toBe(1);
    await clock.advance(10);
    await asleep;
    expect(listeners).toBe(0);
  });
});
