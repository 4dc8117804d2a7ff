import type { Clock } from '@bowline/machinery';

/** Doorbell lets a loop wait for a time or for a ring, whichever comes first. A ring while nobody waits is not lost. */
export class Doorbell {
  readonly #clock: Clock;
  #rung = false;
  #wake: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  /** wait resolves after `ms`, at the next ring, or when the signal is aborted. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#rung && !signal.aborted && ms > 0) {
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
    this.#rung = false;
  }
}
