import type { Clock, Timer } from './clock.ts';

/**
 * WakeSignal lets a loop wait for a time or for a wake-up, whichever comes first. A wake-up while nothing waits is
 * kept.
 */
export class WakeSignal {
  readonly #clock: Pick<Clock, 'setTimer'>;
  #isWoken = false;
  #notify: (() => void) | undefined;

  constructor(clock: Pick<Clock, 'setTimer'>) {
    this.#clock = clock;
  }

  /** wake ends the current wait, or the next one. */
  wake(): void {
    this.#isWoken = true;
    this.#notify?.();
  }

  /** clear forgets a wake-up that no wait has received yet. */
  clear(): void {
    this.#isWoken = false;
  }

  /** wait resolves after `ms`, which may be Infinity, at the next wake-up, or when the signal is aborted. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#isWoken && !signal.aborted && ms > 0) {
      await new Promise<void>((resolve) => {
        let timer: Timer | undefined;
        const done = (): void => {
          timer?.cancel();
          signal.removeEventListener('abort', done);
          this.#notify = undefined;
          resolve();
        };
        if (Number.isFinite(ms)) timer = this.#clock.setTimer(ms, done);
        signal.addEventListener('abort', done, { once: true });
        this.#notify = done;
      });
    }
    this.#isWoken = false;
  }
}
