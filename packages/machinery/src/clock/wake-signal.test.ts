import { expect, it } from 'vitest';
import { VirtualClock } from './virtual-clock.ts';
import { WakeSignal } from './wake-signal.ts';

const never = new AbortController().signal;

/** isDone reports whether a promise settles without the passing of time. */
async function isDone(promise: Promise<void>, clock: VirtualClock): Promise<boolean> {
  let done = false;
  void promise.then(() => {
    done = true;
  });
  await clock.advance(0);
  return done;
}

it('waits for a time, a wake-up or the signal, and leaves no timer', async () => {
  const clock = new VirtualClock();
  const wake = new WakeSignal(clock);
  const stop = new AbortController();
  const timed = wake.wait(100, never);
  expect(await isDone(timed, clock)).toBe(false);
  await clock.advance(100);
  await timed;
  const woken = wake.wait(100, never);
  wake.wake();
  await woken;
  const aborted = wake.wait(Number.POSITIVE_INFINITY, stop.signal);
  expect(clock.pendingTimers).toBe(0);
  stop.abort();
  await aborted;
  await wake.wait(100, stop.signal);
  expect(clock.pendingTimers).toBe(0);
});

it('keeps a wake-up for the next wait, unless it is cleared', async () => {
  const clock = new VirtualClock();
  const wake = new WakeSignal(clock);
  wake.wake();
  wake.wake();
  await wake.wait(100, never);
  wake.wake();
  wake.clear();
  const waiting = wake.wait(100, never);
  expect(await isDone(waiting, clock)).toBe(false);
  await clock.advance(100);
  await waiting;
});
