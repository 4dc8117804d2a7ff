import type { Clock } from '@bowline/machinery';

/** Rights are given rarely: after an hour it is tried again. */
const REMEMBER_MS = 3_600_000;
const MOST = 1_000;

/** DeniedCalls remembers for a while which calls we have no right to, so that they are not made for nothing. */
export class DeniedCalls {
  readonly #clock: Clock;
  /** All are kept equally long: the first is the oldest. */
  readonly #until = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  has(call: string): boolean {
    return (this.#until.get(call) ?? Number.NEGATIVE_INFINITY) > this.#clock.monotonic();
  }

  add(call: string): void {
    this.#until.delete(call);
    this.#until.set(call, this.#clock.monotonic() + REMEMBER_MS);
    for (const oldest of this.#until.keys()) {
      if (this.#until.size <= MOST) break;
      this.#until.delete(oldest);
    }
  }
}
