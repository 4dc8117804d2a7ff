import type { Clock } from '@bowline/machinery';

/** A microsecond, in milliseconds: far below anything that is waited for, and above what a number can tell apart in years. */
const STEP_MS = 0.001;

/**
 * orderedClock is a clock that never gives the same instant twice. Whether an answer is newer than the reason to ask is decided by
 * instants: of two in the same tick, or while a test's time stands still, the second is the later one.
 */
export function orderedClock(clock: Clock): Clock {
  let last = Number.NEGATIVE_INFINITY;
  return {
    now: () => clock.now(),
    monotonic: () => {
      last = Math.max(clock.monotonic(), last + STEP_MS);
      return last;
    },
    setTimer: (delayMs, callback) => clock.setTimer(delayMs, callback),
    sleep: (delayMs, signal) => clock.sleep(delayMs, signal),
  };
}
