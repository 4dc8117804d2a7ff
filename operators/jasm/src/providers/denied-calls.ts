import type { Clock } from '@bowline/machinery';

/** So many are remembered; the oldest goes first. */
const MOST = 1_000;

/** DeniedCalls remembers for a while which calls we have no right to, so that they are not made for nothing. */
export class DeniedCalls {
  readonly #clock: Clock;
  readonly #forMs: number;
  /** All are kept equally long: the first is the oldest. */
  readonly #until = new Map<string, number>();

  /** `forMs` is how long: rights are given rarely, and whoever has just given one wants to see it. */
  constructor(clock: Clock, forMs: number) {
    this.#clock = clock;
    this.#forMs = forMs;
  }

  has(call: string): boolean {
    return (this.#until.get(call) ?? Number.NEGATIVE_INFINITY) > this.#clock.monotonic();
  }

  add(call: string): void {
    this.#until.delete(call);
    this.#until.set(call, this.#clock.monotonic() + this.#forMs);
    for (const oldest of this.#until.keys()) {
      if (this.#until.size <= MOST) break;
      this.#until.delete(oldest);
    }
  }
}
