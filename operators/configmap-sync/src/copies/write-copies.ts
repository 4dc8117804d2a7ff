import { keyString } from '@bowline/kubernetes';
import { forEachConcurrently } from '@bowline/machinery';
import { isNamespaceTerminating } from '@bowline/runtime';
import type { Target } from '../targets/resolve-targets.ts';
import type { CopyTools } from './copy-requests.ts';
import { type CopyResult, failed, problemOf, stopped } from './copy-result.ts';
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
  const sync = async (target: Target): Promise<void> => {
    const obstacle = problemOf(target);
    results.set(
      target,
      obstacle ? stopped(target, obstacle, tools.find(target)) : await writeCopy(tools, target, wish),
    );
  };
  const failures = await forEachConcurrently(targets, limit, sync, { signal });
  // Not the copies' fault: nothing is said of them.
  signal.throwIfAborted();
  for (const { item, error } of failures) {
    // The cache has yet to show that its namespace is being deleted: then it is no longer selected.
    if (item.selected && isNamespaceTerminating(error)) continue;
    tools.log.warn('a copy could not be written', { copy: keyString(item), error });
    results.set(item, failed(item, error, tools.find(item)));
  }
  return targets.flatMap((target) => results.get(target) ?? []);
}
