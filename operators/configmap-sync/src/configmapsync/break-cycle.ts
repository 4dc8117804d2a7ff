import { keyOf, keyString } from '@bowline/kubernetes';
import { ConfigMapSync } from '../api/config-map-sync.ts';
import { authors } from '../authorization/author-review.ts';
import { effectiveEdges } from '../cycles/effective-edges.ts';
import { type Edge, findLoops } from '../cycles/find-loops.ts';
import { syncEdges, syncOf, writingSyncs } from '../cycles/sync-edges.ts';
import type { Target } from '../targets/resolve-targets.ts';
import { sourceKey } from './source.ts';
import type { SyncContext } from './sync-controller.ts';
import { YES } from './sync-indexes.ts';
import { allNamespaces } from './targets.ts';

/**
 * breakCycle marks the targets whose content would return to the source through other ConfigMapSyncs. To break a cycle
 * it is enough to omit one edge: that of its youngest ConfigMapSync, because the others existed before. Its other
 * copies continue to be synced, and so do the other ConfigMapSyncs.
 */
export async function breakCycle(context: SyncContext, targets: readonly Target[]): Promise<readonly Target[]> {
  const { object, list, deps, signal } = context;
  // Copies that are not copied further, as almost all are, need no search.
  if (!isCopiedFurther(context, targets)) return targets;
  const { key } = syncOf(object);
  const writing = writingSyncs(list(ConfigMapSync));
  const { closing, back } = findLoops(syncEdges(syncOf(object), writing, allNamespaces(context)), key);
  if (back.length === 0) return targets;
  const authorizer = {
    reviews: deps.reviews,
    isReviewed: (name: string) => authors.isTrustedIn(context, name),
    signal,
  };
  const effective = await effectiveEdges(back, writing, authorizer);
  const olderKeys = new Set(
    list(ConfigMapSync)
      .filter((sync) => isOlder(sync, object))
      .map(keyTextOf),
  );
  const isOlderEdge = ({ by }: Edge): boolean => olderKeys.has(by);
  const younger = findLoops([...closing, ...effective], key).back.filter((edge) => !isOlderEdge(edge));
  enqueueYounger(context, new Set(younger.map(({ by }) => by)));
  const skipped = findLoops([...closing, ...effective.filter(isOlderEdge)], key).closing;
  const cyclicKeys = new Set(skipped.flatMap(({ from, to }) => [from, to]));
  return targets.map((target) =>
    cyclicKeys.has(keyString(target)) ? { ...target, problem: 'CycleDetected' } : target,
  );
}

function isCopiedFurther(context: SyncContext, targets: readonly Target[]): boolean {
  const { object, list } = context;
  const own = keyTextOf(object);
  const written = [...targets, ...(object.spec.direction === 'Bidirectional' ? [sourceKey(context)] : [])];
  return written.some((each) =>
    list(ConfigMapSync, { by: { reads: keyString(each) } }).some((sync) => keyTextOf(sync) !== own),
  );
}

/** enqueueYounger enqueues younger ConfigMapSyncs: they may see no event when an older one closes a cycle. */
function enqueueYounger({ list, enqueue }: SyncContext, younger: ReadonlySet<string>): void {
  const alreadyCyclic = new Set(list(ConfigMapSync, { by: { cyclic: YES } }));
  const notified = list(ConfigMapSync).filter((sync) => younger.has(keyTextOf(sync)) && !alreadyCyclic.has(sync));
  for (const sync of notified) enqueue(keyOf(sync));
}

function keyTextOf(sync: ConfigMapSync): string {
  return keyString(keyOf(sync));
}

/**
 * Reports whether a ConfigMapSync was created before another; of two created in the same second, the first by name
 * counts.
 */
function isOlder(one: ConfigMapSync, other: ConfigMapSync): boolean {
  const [mine = '', theirs = ''] = [one, other].map(({ metadata }) => metadata?.creationTimestamp);
  return mine === theirs ? keyTextOf(one) < keyTextOf(other) : mine < theirs;
}
