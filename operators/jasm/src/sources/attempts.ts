import type { Clock, Random } from '@bowline/machinery';
import { ProviderError } from '../providers/provider-error.ts';

/** AttemptOptions configures the attempts of a call. */
export interface AttemptOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Ends the call, also during a delay. */
  readonly signal: AbortSignal;
  /** The time limit of one attempt. */
  readonly limitMs: number;
  /** The error of an attempt that exceeded the limit. */
  readonly timeoutError: () => ProviderError;
}

/** Five retries after the first attempt; the delay before each is defined below. */
const MAX_ATTEMPTS = 6;
/** The delay before the nth retry is random, up to 0.5, 1, 2, 4 and 8 s: 15.5 s at most, 7.75 s on average. */
const FIRST_WAIT_MS = 500;
/** A store that requests a longer delay than this is left to the controller's own backoff. */
const MAX_WAIT_MS = 30_000;

/**
 * withRetries makes a call until it succeeds, up to six times, with full jitter between attempts, so that calls that
 * failed together are not retried together. Only transient errors are retried.
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
      if (!(error instanceof ProviderError) || error.kind !== 'transient' || attempts === MAX_ATTEMPTS) throw error;
      const requestedMs = error.retryAfterMs ?? 0;
      if (requestedMs > MAX_WAIT_MS) throw error;
      await clock.sleep(Math.max(requestedMs, random.next() * FIRST_WAIT_MS * 2 ** (attempts - 1)), signal);
    }
  }
}

/** withLimit ends an attempt at its time limit, even if the called code ignores its signal. */
async function withLimit<T>(
  attempt: (signal: AbortSignal) => Promise<T>,
  { clock, signal, limitMs, timeoutError }: AttemptOptions,
): Promise<T> {
  signal.throwIfAborted();
  const abortController = new AbortController();
  const end = (): void => abortController.abort(signal.reason);
  signal.addEventListener('abort', end, { once: true });
  using _limit = clock.setTimer(limitMs, () => abortController.abort(timeoutError()));
  try {
    return await new Promise<T>((resolve, reject) => {
      abortController.signal.addEventListener('abort', () => reject(abortController.signal.reason), { once: true });
      attempt(abortController.signal).then(resolve, (error: unknown) => {
        // The rejection of an aborted call is less informative than the reason for aborting it.
        reject(abortController.signal.aborted ? abortController.signal.reason : error);
      });
    });
  } finally {
    signal.removeEventListener('abort', end);
  }
}
