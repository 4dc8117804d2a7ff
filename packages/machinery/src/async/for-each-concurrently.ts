import { BowlineError } from '../errors/bowline-error.ts';

/** ItemFailure holds an item whose work failed, and the error. */
export interface ItemFailure<T> {
  readonly item: T;
  readonly error: unknown;
}

/** ConcurrencyOptions configures how the work is ended early. */
export interface ConcurrencyOptions {
  /** Once aborted, no further item is started; running items are awaited. Defaults to never. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * forEachConcurrently runs `work` for each item, at most `limit` at a time, and returns the failures in the order of
 * the items. An item that fails or takes long does not delay the others. It rejects with the signal's reason if the
 * signal is aborted before every item was started.
 *
 * @example
 * const failures = await forEachConcurrently(copies, 32, (copy) => ensure(ConfigMap, copy, { labels }), { signal });
 */
export async function forEachConcurrently<T>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => unknown,
  { signal }: ConcurrencyOptions = {},
): Promise<readonly ItemFailure<T>[]> {
  if (!Number.isInteger(limit) || limit < 1) {
    throw new BowlineError(
      'BOWLINE_CONCURRENCY_INVALID',
      `invalid concurrency limit ${limit}: use an integer of at least 1`,
    );
  }
  const failures: (ItemFailure<T> & { readonly index: number })[] = [];
  const all = [...items];
  const numbered = all.entries();
  // All workers share one iterator: a free worker takes the next item.
  const worker = async (): Promise<void> => {
    for (const [index, item] of numbered) {
      signal?.throwIfAborted();
      try {
        await work(item);
      } catch (error) {
        failures.push({ item, error, index });
      }
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: Math.min(limit, all.length) }, worker));
  for (const each of ended) if (each.status === 'rejected') throw each.reason;
  return failures.toSorted((a, b) => a.index - b.index).map(({ item, error }) => ({ item, error }));
}
