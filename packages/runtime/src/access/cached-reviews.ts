import { BoundedMap, type Clock } from '@bowline/machinery';
import { BowlineError } from '../errors/bowline-error.ts';

/** CachedReviewsOptions limits the reviews of one kind. */
export interface CachedReviewsOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly grantedForMs: number;
  readonly deniedForMs: number;
  /** The maximum number of grants, and of denials. */
  readonly maxCached: number;
  /** The maximum number of concurrent reviews; others fail. Defaults to no limit, for callers that limit them. */
  readonly maxInFlight?: number | undefined;
}

/** Reviewed is the result of a review: what it grants, or why it grants nothing. */
export type Reviewed<Grant, Denial> =
  | { readonly granted: true; readonly value: Grant }
  | { readonly granted: false; readonly value: Denial };

/**
 * CachedReviews caches the results of reviews by key. Concurrent requests with the same key share one review, which goes
 * on if one of them is aborted. Failures are passed to the callers and never cached. Denials are cached apart from grants, so that guesses evict no grant.
 */
export class CachedReviews<Grant, Denial> {
  readonly #granted: BoundedMap<string, Reviewed<Grant, Denial>>;
  readonly #denied: BoundedMap<string, Reviewed<Grant, Denial>>;
  readonly #inFlight = new Map<string, Promise<Reviewed<Grant, Denial>>>();
  readonly #maxInFlight: number;

  constructor(options: CachedReviewsOptions) {
    const { clock, grantedForMs, deniedForMs, maxCached: maxEntries } = options;
    this.#granted = new BoundedMap({ maxEntries, expiry: { clock, afterMs: grantedForMs } });
    this.#denied = new BoundedMap({ maxEntries, expiry: { clock, afterMs: deniedForMs } });
    this.#maxInFlight = options.maxInFlight ?? Number.POSITIVE_INFINITY;
  }

  /**
   * get returns the cached result of a key, or else that of `review`. It throws if the limit of reviews is reached, or if
   * the signal is aborted before there is a result.
   */
  async get(
    key: string,
    review: () => Promise<Reviewed<Grant, Denial>>,
    signal?: AbortSignal,
  ): Promise<Reviewed<Grant, Denial>> {
    const known = this.#granted.get(key) ?? this.#denied.get(key);
    if (known) return known;
    signal?.throwIfAborted();
    return await unlessAborted(this.#inFlight.get(key) ?? this.#start(key, review), signal);
  }

  #start(key: string, review: () => Promise<Reviewed<Grant, Denial>>): Promise<Reviewed<Grant, Denial>> {
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
    return reviewing;
  }
}

async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await work;
  let abort: () => void = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason as Error);
  });
  signal.addEventListener('abort', abort);
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
