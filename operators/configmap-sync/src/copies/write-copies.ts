import { forEachConcurrently } from '@bowline/machinery';
import type { Target } from '../targets/resolve-targets.ts';
import { type CopyResult, failed, namespaceMissing, namespaceTerminating } from './copy-result.ts';
import { type CopyTools, type Wish, writeCopy } from './write-copy.ts';

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
      results.set(target, unreachable(target) ?? (await writeCopy(tools, target, wish)));
    },
    { signal },
  );
  // Not the copies' fault: nothing is said of them.
  signal.throwIfAborted();
  for (const { item, error } of failures) results.set(item, failed(item, error));
  return targets.flatMap((target) => results.get(target) ?? []);
}

function unreachable(target: Target): CopyResult | undefined {
  if (target.problem === undefined) return undefined;
  const obstacle = target.problem === 'NamespaceMissing' ? namespaceMissing : namespaceTerminating;
  return { target, deed: 'nothing', exists: false, obstacle };
}
