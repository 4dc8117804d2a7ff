import { BoundedMap, type Clock } from '@bowline/machinery';

/** TokenBucketsOptions shapes the buckets. */
export interface TokenBucketsOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** What a full bucket holds. */
  readonly burst: number;
  /** How long it takes for one token to come back. */
  readonly refillMs: number;
  /** How many keys are remembered; one that is forgotten has a full bucket again. */
  readonly limit: number;
}

/** TokenBuckets bounds how often something may happen, for each key on its own. */
export class TokenBuckets {
  readonly #options: TokenBucketsOptions;
  readonly #buckets: BoundedMap<string, { tokens: number; at: number }>;

  constructor(options: TokenBucketsOptions) {
    this.#options = options;
    this.#buckets = new BoundedMap({ maxEntries: options.limit });
  }

  /** take says whether it may happen now, and counts it if so. */
  take(key: string): boolean {
    const { clock, burst, refillMs } = this.#options;
    const now = clock.monotonic();
    const bucket = this.#buckets.get(key) ?? { tokens: burst, at: now };
    const tokens = Math.min(burst, bucket.tokens + (now - bucket.at) / refillMs);
    const may = tokens >= 1;
    this.#buckets.set(key, { tokens: may ? tokens - 1 : tokens, at: now });
    return may;
  }
}
