import { between, type Clock, type Random } from '@bowline/machinery';

const FIRST_MS = 800;
const MAX_DELAY_MS = 30_000;
/** After this time without a failure, the backoff starts over. */
const HEALTHY_AFTER_MS = 120_000;

/**
 * ReconnectBackoff computes retry delays: 800 ms doubling to 30 s, with full jitter (each delay is between zero and
 * that value).
 */
export class ReconnectBackoff {
  readonly #wire: Clock;
  readonly #random: Random;
  #ceiling = FIRST_MS;
  #failedAt = Number.NEGATIVE_INFINITY;

  constructor(wire: Clock, random: Random) {
    this.#wire = wire;
    this.#random = random;
  }

  /** next returns how long to wait now, at least the delay requested by the server. */
  next(atLeastMs: number): number {
    const now = this.#wire.monotonic();
    if (now - this.#failedAt > HEALTHY_AFTER_MS) this.#ceiling = FIRST_MS;
    const delay = between(this.#random, 0, this.#ceiling);
    this.#ceiling = Math.min(MAX_DELAY_MS, this.#ceiling * 2);
    const wait = Math.max(delay, atLeastMs);
    // Waiting does not count as healthy: the healthy time begins when the wait is over.
    this.#failedAt = now + wait;
    return wait;
  }
}
