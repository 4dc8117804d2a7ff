import { type Clock, sleepOn, type Timer } from './clock.ts';

/**
 * setTimeout accepts at most a signed 32-bit delay and fires at once for a longer one, so longer timers are re-armed.
 */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** systemClock is the clock of the machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer: (delayMs, callback) => new SystemTimer(delayMs, callback),
  sleep: (delayMs, signal) => sleepOn(systemClock, delayMs, signal),
};

class SystemTimer implements Timer {
  #handle: NodeJS.Timeout;

  constructor(delayMs: number, callback: () => void) {
    this.#handle = this.#arm(performance.now() + Math.max(0, delayMs), callback);
  }

  #arm(due: number, callback: () => void): NodeJS.Timeout {
    const left = due - performance.now();
    const handle =
      left > MAX_TIMEOUT_MS
        ? setTimeout(() => {
            this.#handle = this.#arm(due, callback);
          }, MAX_TIMEOUT_MS)
        : setTimeout(callback, Math.max(0, left));
    return handle.unref();
  }

  cancel(): void {
    clearTimeout(this.#handle);
  }

  [Symbol.dispose](): void {
    this.cancel();
  }
}
