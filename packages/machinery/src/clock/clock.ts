/**
 * Clock is the only way in which the suite reads the time or waits. Long-lived components take two clocks: `clock` for
 * queues, backoff and domain timers, and `wire` for communication between machines (leases, pings, request timeouts).
 * Both are real in production; a test makes the first virtual and keeps the second real unless it simulates everything.
 */
export interface Clock {
  /**
   * now returns the wall time in milliseconds since the epoch. It may jump; never subtract two values to measure a
   * duration.
   */
  now(): number;
  /** monotonic returns milliseconds since an arbitrary start. It never jumps: use it for ages and deadlines. */
  monotonic(): number;
  /**
   * setTimer runs `callback` once after `delayMs` (negative counts as zero). The timer does not keep the process alive.
   */
  setTimer(delayMs: number, callback: () => void): Timer;
  /** sleep resolves after `delayMs`, or rejects with the signal's reason as soon as it is aborted. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

/** Timer is a scheduled callback; cancelling one that has fired does nothing. */
export interface Timer extends Disposable {
  cancel(): void;
}

/** sleepOn implements `Clock.sleep` with a clock's own timers, so that all clocks wait and abort in the same way. */
export function sleepOn(clock: Pick<Clock, 'setTimer'>, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = (): void => {
      timer.cancel();
      reject(signal?.reason);
    };
    const timer = clock.setTimer(delayMs, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
