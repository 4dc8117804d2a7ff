import type { Log } from '@bowline/runtime';
import type { Queue } from '@bowline/runtime/controller';

/** WorkQueueOptions says how the keys of a queue are worked off. */
export interface WorkQueueOptions {
  readonly queue: Queue;
  readonly concurrency: number;
  /** Does what is to be done about a key; what it throws is tried again after a backoff. */
  readonly work: (key: string, signal: AbortSignal) => Promise<void>;
  readonly log: Log;
}

const LASTING_FAILURES = 5;

/** runWorkQueue works off a queue whose keys no declared source names. Resolves when the signal is aborted and nothing is under way. */
export async function runWorkQueue(signal: AbortSignal, options: WorkQueueOptions): Promise<void> {
  const { queue, concurrency, work, log } = options;
  const worker = async (): Promise<void> => {
    for (;;) {
      const item = await queue.next(signal).catch(() => undefined);
      if (item === undefined) return;
      try {
        await work(item.key, signal);
        queue.forget(item.key);
      } catch (error) {
        if (!signal.aborted) {
          // Conflicts and the like pass by themselves; what lasts is worth one line.
          const level = item.failures === LASTING_FAILURES ? 'warn' : 'debug';
          log[level]('a key will be tried again', { key: item.key, error });
          queue.retry(item.key);
        }
      } finally {
        queue.done(item.key);
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  await queue.shutDown({ discard: true });
}
