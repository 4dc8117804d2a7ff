import { between, type Clock, type Random } from '@bowline/machinery';

const FIRST_MS = 800;
const LONGEST_MS = 30_000;
/** After this long without a failure the next one counts as the first. */
const HEALTHY_AFTER_MS = 120_000;

/** ReconnectBackoff spreads retries: 800 ms doubling to 30 s, each anywhere between zero and that (full jitter). */
export class ReconnectBackoff {
  readonly #wire: Clock;
  readonly #random: Random;
  #ceiling = FIRST_MS;
  #failedAt = Number.NEGATIVE_INFINITY;

  constructor(wire: Clock, random: Random) {
    this.#wire = wire;
    this.#random = random;
  }

  /** next is how long to wait now, at least what the server asked for. */
  next(atLeastMs: number): number {
    const now = this.#wire.monotonic();
    if (now - this.#failedAt > HEALTHY_AFTER_MS) this.#ceiling = FIRST_MS;
    const delay = between(this.#random, 0, this.#ceiling);
    this.#ceiling = Math.min(LONGEST_MS, this.#ceiling * 2);
    const wait = Math.max(delay, atLeastMs);
    // Waiting is not health: what counts begins when the wait is over.
    this.#failedAt = now + wait;
    return wait;
  }
}
