import type { Random } from '@bowline/machinery';

/** BackoffRange bounds an exponential backoff. */
export interface BackoffRange {
  /** The delay after the first failure. */
  readonly minMs: number;
  /** The maximum delay. */
  readonly maxMs: number;
}

/** BackoffOptions configures the delays between the attempts of one key. */
export interface BackoffOptions extends Partial<BackoffRange> {
  /** The ratio of each delay to the previous one. Defaults to 2. */
  readonly factor?: number | undefined;
  /**
   * The share by which a delay may randomly be shortened, so that keys that failed together do not return together.
   * Defaults to 0.1.
   */
  readonly jitter?: number | undefined;
}

/** DEFAULT_BACKOFF is 5 ms to 1000 s, doubling: quick enough for a stale read, slow enough for a lasting outage. */
export const DEFAULT_BACKOFF = { minMs: 5, maxMs: 1_000_000, factor: 2, jitter: 0.1 } as const;

/** backoffMs returns the delay after the `failures`-th failure in a row (1 is the first). */
export function backoffMs(
  failures: number,
  options: Readonly<Required<{ [K in keyof BackoffOptions]: number }>>,
  random: Random,
): number {
  // 2 ** 1100 is Infinity, which Math.min turns into the maximum: no overflow to guard against.
  const delay = Math.min(options.maxMs, options.minMs * options.factor ** (failures - 1));
  return delay * (1 - options.jitter * random.next());
}
