import { BoundedMap, type Clock } from '@bowline/machinery';
import { BowlineError } from '../errors/bowline-error.ts';

/** CachedReviewsOptions limits the reviews of one kind. */
export interface CachedReviewsOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly grantedForMs: number;
  readonly deniedForMs: number;
  /** The maximum number of grants, and of denials. */
  readonly maxCached: number;
  /** The maximum number of concurrent reviews. */
  readonly maxInFlight: number;
}

/** Reviewed is the result of a review: what it grants, or why it grants nothing. */
export type Reviewed<Grant, Denial> =
  | { readonly granted: true; readonly value: Grant }
  | { readonly granted: false; readonly value: Denial };

/**
 * CachedReviews caches the results of reviews by key. Concurrent requests with the same key share one review. Failures
 * are passed to the caller and never cached. Denials are cached apart from grants, so that guesses evict no grant.
 */
export class CachedReviews<Grant, Denial> {
  readonly #granted: BoundedMap<string, Reviewed<Grant, Denial>>;
  readonly #denied: BoundedMap<string, Reviewed<Grant, Denial>>;
  readonly #inFlight = new Map<string, Promise<Reviewed<Grant, Denial>>>();
  readonly #maxInFlight: number;

  constructor({ clock, grantedForMs, deniedForMs, maxCached: maxEntries, maxInFlight }: CachedReviewsOptions) {
    this.#granted = new BoundedMap({ maxEntries, expiry: { clock, afterMs: grantedForMs } });
    this.#denied = new BoundedMap({ maxEntries, expiry: { clock, afterMs: deniedForMs } });
    this.#maxInFlight = maxInFlight;
  }

  /** get returns the cached result of a key, or else calls `review`. It throws if the limit of reviews is reached. */
  async get(key: string, review: () => Promise<Reviewed<Grant, Denial>>): Promise<Reviewed<Grant, Denial>> {
    const known = this.#granted.get(key) ?? this.#denied.get(key);
    if (known) return known;
    const pending = this.#inFlight.get(key);
    if (pending) return await pending;
    if (this.#inFlight.size >= this.#maxInFlight) {
      throw new BowlineError(
        'BOWLINE_ACCESS_REVIEW',
        `cannot review access: ${this.#maxInFlight} reviews are running already; retry in a moment`,
        { retryable: true },
      );
    }
    const reviewing = review()
      .then((result) => {
        (result.granted ? this.#granted : this.#denied).set(key, result);
        return result;
      })
      .finally(() => this.#inFlight.delete(key));
    this.#inFlight.set(key, reviewing);
    return await reviewing;
  }
}
