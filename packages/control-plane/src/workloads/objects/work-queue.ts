import type { Log } from '@bowline/runtime';
import type { Queue } from '@bowline/runtime/controller';

/** WorkQueueOptions configures how the keys of a queue are processed. */
export interface WorkQueueOptions {
  readonly queue: Queue;
  readonly concurrency: number;
  /** Processes a key. If it throws, the key is retried after a backoff. */
  readonly work: (key: string, signal: AbortSignal) => Promise<void>;
  readonly log: Log;
}

const LOG_AFTER_FAILURES = 5;

/**
 * runWorkQueue processes a queue whose keys come from no declared source. It resolves when the signal is aborted and no
 * work is in progress.
 */
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
          // Conflicts and similar errors resolve themselves; a lasting failure is logged once.
          const level = item.failures === LOG_AFTER_FAILURES ? 'warn' : 'debug';
          log[level]('retrying a key after an error', { key: item.key, error });
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
