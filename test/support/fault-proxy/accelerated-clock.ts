import { type Clock, sleepOn, systemClock } from '@bowline/machinery';

/**
 * acceleratedClock returns a clock that runs `factor` times as fast as the system clock, so that the backoffs and idle timeouts
 * of a component take a fraction of their time against a real server. All components that compare times must use the same clock.
 */
export function acceleratedClock(factor: number): Clock {
  const monotonicStart = systemClock.monotonic();
  const wallStart = systemClock.now();
  const monotonic = (): number => (systemClock.monotonic() - monotonicStart) * factor;
  const clock: Clock = {
    monotonic,
    now: () => wallStart + monotonic(),
    setTimer: (delayMs, callback) => systemClock.setTimer(delayMs / factor, callback),
    sleep: (delayMs, signal) => sleepOn(clock, delayMs, signal),
  };
  return clock;
}
