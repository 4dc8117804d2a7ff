import { forEachConcurrently } from '@bowline/machinery';

const WRITES_IN_FLIGHT = 32;

/** inParallel processes many items concurrently, and fails if one fails. */
export async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const [failure] = await forEachConcurrently(items, WRITES_IN_FLIGHT, async (item) => {
    await work(item);
  });
  if (failure) throw failure.error;
}
