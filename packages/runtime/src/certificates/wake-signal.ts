import type { Clock } from '@bowline/machinery';

/**
 * WakeSignal lets a loop wait for a time or for a wake-up, whichever comes first. A wake-up while nothing waits is
 * kept.
 */
export class WakeSignal {
  readonly #clock: Clock;
  #woken = false;
  #wake: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  wake(): void {
    this.#woken = true;
    this.#wake?.();
  }

  /** wait resolves after `ms`, at the next wake-up, or when the signal is aborted. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#woken && !signal.aborted && ms > 0) {
      await new Promise<void>((resolve) => {
        const done = (): void => {
          timer.cancel();
          signal.removeEventListener('abort', done);
          this.#wake = undefined;
          resolve();
        };
        const timer = this.#clock.setTimer(ms, done);
        signal.addEventListener('abort', done, { once: true });
        this.#wake = done;
      });
    }
    this.#woken = false;
  }
}
