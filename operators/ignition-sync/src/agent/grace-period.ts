import type { Clock, Timer } from '@bowline/machinery';

/** How long a sync may continue after a stop. */
const GRACE_MS = 15_000;

/** GracePeriod ends some time after the agent was stopped. */
export class GracePeriod implements Disposable {
  readonly #ended = new AbortController();
  readonly #stop: AbortSignal;
  readonly #onStop: () => void;
  #timer: Timer | undefined;
  /** Resolves when it has ended. */
  readonly ended: Promise<number>;

  constructor(stop: AbortSignal, clock: Clock) {
    this.#stop = stop;
    this.#onStop = () => {
      this.#timer = clock.setTimer(GRACE_MS, () => this.#ended.abort(stop.reason));
    };
    stop.addEventListener('abort', this.#onStop, { once: true });
    this.ended = new Promise((resolve) => {
      this.#ended.signal.addEventListener('abort', () => resolve(0), { once: true });
    });
  }

  /** signal is aborted when it has ended. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  [Symbol.dispose](): void {
    this.#stop.removeEventListener('abort', this.#onStop);
    this.#timer?.cancel();
  }
}
