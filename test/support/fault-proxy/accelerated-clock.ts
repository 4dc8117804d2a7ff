import { type Clock, sleepOn, systemClock } from '@bowline/machinery';

/**
 * acceleratedClock runs `factor` times as fast as the machine's: the backoffs and silences of a component that lives by
 * it take a fraction of their time against a real server. Everything that compares its times must live by the same one.
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
