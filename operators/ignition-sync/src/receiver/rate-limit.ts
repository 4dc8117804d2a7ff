import { BoundedMap, type Clock } from '@bowline/machinery';

/** RateLimitOptions configures a rate limit. */
export interface RateLimitOptions {
  /** The maximum number of requests per key and minute. */
  readonly perMinute: number;
  readonly clock: Pick<Clock, 'monotonic'>;
}

const WINDOW_MS = 60_000;
/** MAX_PATHS is the number of keys whose requests are counted. Beyond that the oldest count is forgotten. */
export const MAX_PATHS = 10_000;

interface Window {
  readonly endsAt: number;
  count: number;
}

/** RateLimit limits the requests for each key, in windows of a minute that begin with the first request. */
export class RateLimit {
  readonly #options: RateLimitOptions;
  readonly #windows: BoundedMap<string, Window>;

  constructor(options: RateLimitOptions) {
    this.#options = options;
    const expiry = { clock: options.clock, afterMs: WINDOW_MS };
    this.#windows = new BoundedMap({ maxEntries: MAX_PATHS, expiry });
  }

  /** The number of keys that are remembered. */
  get size(): number {
    return this.#windows.size;
  }

  /** take counts a request. It returns undefined if it is allowed, else after how many seconds to retry. */
  take(key: string): number | undefined {
    const now = this.#options.clock.monotonic();
    const window = this.#windows.get(key);
    if (!window) {
      this.#windows.set(key, { endsAt: now + WINDOW_MS, count: 1 });
      return undefined;
    }
    if (window.count >= this.#options.perMinute) return Math.max(1, Math.ceil((window.endsAt - now) / 1_000));
    window.count++;
    return undefined;
  }
}
