import { forEachConcurrently } from '@bowline/machinery';
import type { Target } from '../targets/resolve-targets.ts';
import type { CopyTools } from './copy-requests.ts';
import { type CopyResult, failed, problemOf } from './copy-result.ts';
import { type Wish, writeCopy } from './write-copy.ts';

/** WriteCopiesOptions bounds the work. */
export interface WriteCopiesOptions {
  /** How many copies are written at a time. */
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** writeCopies makes every copy what it should be, and answers what became of each, in order. One that fails holds up no other. */
export async function writeCopies(
  tools: CopyTools,
  targets: readonly Target[],
  wish: Wish,
  { limit, signal }: WriteCopiesOptions,
): Promise<readonly CopyResult[]> {
  const results = new Map<Target, CopyResult>();
  const failures = await forEachConcurrently(
    targets,
    limit,
    async (target) => {
      const obstacle = problemOf(target);
      const result = obstacle ? { target, deed: 'nothing' as const, exists: false, obstacle } : undefined;
      results.set(target, result ?? (await writeCopy(tools, target, wish)));
    },
    { signal },
  );
  // Not the copies' fault: nothing is said of them.
  signal.throwIfAborted();
  for (const { item, error } of failures) results.set(item, failed(item, error));
  return targets.flatMap((target) => results.get(target) ?? []);
}
