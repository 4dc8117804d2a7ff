import { BoundedMap, type Clock } from '@bowline/machinery';

/** TokenBucketsOptions configures the buckets. */
export interface TokenBucketsOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** The capacity of a bucket. */
  readonly burst: number;
  /** How long it takes to refill one token. */
  readonly refillMs: number;
  /** How many keys are remembered; a key that was forgotten has a full bucket again. */
  readonly limit: number;
}

/** TokenBuckets limits the rate of something, per key. */
export class TokenBuckets {
  readonly #options: TokenBucketsOptions;
  readonly #buckets: BoundedMap<string, { tokens: number; at: number }>;

  constructor(options: TokenBucketsOptions) {
    this.#options = options;
    this.#buckets = new BoundedMap({ maxEntries: options.limit });
  }

  /** take reports whether the key has a token, and takes it if so. */
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
