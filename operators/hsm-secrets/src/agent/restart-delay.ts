import type { Clock } from '@bowline/machinery';

const FIRST_DELAY_MS = 1_000;
/** The longest delay. A process that ran this long counts as healthy. */
const MAX_DELAY_MS = 60_000;

/** RestartDelay computes how long to wait before a process is started again: 1 s, doubling to 60 s. */
export class RestartDelay {
  readonly #clock: Clock;
  #startedAt = 0;
  #failures = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** started records the start of the process. */
  started(): void {
    this.#startedAt = this.#clock.monotonic();
  }

  /** afterEnd returns the delay after the process has ended. */
  afterEnd(): number {
    if (this.#clock.monotonic() - this.#startedAt >= MAX_DELAY_MS) this.#failures = 0;
    return Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** this.#failures++);
  }
}
