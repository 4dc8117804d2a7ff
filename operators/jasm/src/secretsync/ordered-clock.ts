import type { Clock } from '@bowline/machinery';

/** A microsecond, in milliseconds: far below any delay that matters, and above the resolution of a number for years. */
const STEP_MS = 0.001;

/**
 * orderedClock returns a clock that never returns the same instant twice. Instants decide whether an answer is newer
 * than the reason to read: of two in the same tick, or while the time of a test stands still, the second is the later
 * one.
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
