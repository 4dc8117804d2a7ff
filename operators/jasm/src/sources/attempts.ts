import type { Clock, Random } from '@bowline/machinery';
import { ProviderError } from '../providers/provider-error.ts';

/** AttemptOptions says how a call is tried. */
export interface AttemptOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Ends the call, also while it waits. */
  readonly signal: AbortSignal;
  /** How long one attempt may take. */
  readonly limitMs: number;
  /** The error of an attempt that took longer. */
  readonly late: () => ProviderError;
}

/** Five retries after the first attempt; see the wait before each below. */
const MOST_ATTEMPTS = 6;
/** The wait before the nth retry is anything up to 0.5, 1, 2, 4 and 8 s: 15.5 s at most, 7.75 s on average. */
const FIRST_WAIT_MS = 500;
/** A store that asks for a longer pause than this is left to the controller's own backoff. */
const LONGEST_WAIT_MS = 30_000;

/**
 * withRetries makes a call until it succeeds, up to six times, with full jitter between attempts: those that failed together
 * do not come back together. Only transient errors are tried again.
 */
export async function withRetries<T>(
  attempt: (signal: AbortSignal) => Promise<T>,
  options: AttemptOptions,
): Promise<T> {
  const { clock, random, signal } = options;
  for (let attempts = 1; ; attempts++) {
    try {
      return await withLimit(attempt, options);
    } catch (error) {
      if (!(error instanceof ProviderError) || error.kind !== 'transient' || attempts === MOST_ATTEMPTS) throw error;
      const asked = error.retryAfterMs ?? 0;
      if (asked > LONGEST_WAIT_MS) throw error;
      await clock.sleep(Math.max(asked, random.next() * FIRST_WAIT_MS * 2 ** (attempts - 1)), signal);
    }
  }
}

/** withLimit ends an attempt at its time, also when what it calls does not listen to its signal. */
async function withLimit<T>(
  attempt: (signal: AbortSignal) => Promise<T>,
  { clock, signal, limitMs, late }: AttemptOptions,
): Promise<T> {
  signal.throwIfAborted();
  const ending = new AbortController();
  const end = (): void => ending.abort(signal.reason);
  signal.addEventListener('abort', end, { once: true });
  using _limit = clock.setTimer(limitMs, () => ending.abort(late()));
  try {
    return await new Promise<T>((resolve, reject) => {
      ending.signal.addEventListener('abort', () => reject(ending.signal.reason), { once: true });
      attempt(ending.signal).then(resolve, (error: unknown) => {
        // What an ended call rejects with says less than why it was ended.
        reject(ending.signal.aborted ? ending.signal.reason : error);
      });
    });
  } finally {
    signal.removeEventListener('abort', end);
  }
}
