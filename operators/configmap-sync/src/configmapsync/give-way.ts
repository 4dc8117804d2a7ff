import { keyOf, keyString } from '@bowline/kubernetes';
import { ConfigMapSync } from '../api/config-map-sync.ts';
import { isObeyedIn } from '../authorization/author-review.ts';
import { effectiveEdges } from '../cycles/effective-edges.ts';
import { type Edge, findLoops } from '../cycles/find-loops.ts';
import { syncEdges, syncOf, writingSyncs } from '../cycles/sync-edges.ts';
import type { Target } from '../targets/resolve-targets.ts';
import { sourceKey } from './source.ts';
import { YES } from './sync-indexes.ts';
import { allNamespaces } from './targets.ts';
import type { SyncContext } from './watching.ts';

/**
 * giveWay marks the targets from which what is written would come back to the source by way of other ConfigMapSyncs. Of a cycle, one
 * edge is enough to leave out: that of the youngest in it, because the others were there before. Its other copies go on, and so do
 * the others. They need not know; the youngest, which may see no event by which an older one closed the cycle, is told.
 */
export async function giveWay(context: SyncContext, targets: readonly Target[]): Promise<readonly Target[]> {
  const { object, list, enqueue, deps, signal } = context;
  const of = syncOf(object);
  const written = [...targets, ...(of.spec.direction === 'Bidirectional' ? [sourceKey(context)] : [])].map(keyString);
  const isReadByOthers = (node: string): boolean =>
    list(ConfigMapSync, { by: { reads: node } }).some((sync) => keyString(keyOf(sync)) !== of.key);
  // Copies that nobody copies further, as almost all are, need no search.
  if (!written.some(isReadByOthers)) return targets;
  const all = list(ConfigMapSync);
  const writing = writingSyncs(all);
  const edges = syncEdges(of, writing, allNamespaces(context));
  const { back, closing: own } = findLoops(edges, of.key);
  if (back.length === 0) return targets;
  const judge = { reviews: deps.reviews, isReviewed: (name: string) => isObeyedIn(context, name), signal };
  const effective = await effectiveEdges(back, writing, judge);
  const older = new Set(all.filter((sync) => isOlder(sync, object)).map((sync) => keyString(keyOf(sync))));
  const isBefore = ({ by }: Edge): boolean => older.has(by);
  const told = new Set(list(ConfigMapSync, { by: { cyclic: YES } }).map((sync) => keyString(keyOf(sync))));
  const younger = findLoops([...own, ...effective], of.key).back.filter((edge) => !isBefore(edge));
  for (const sync of all) {
    const key = keyString(keyOf(sync));
    if (!told.has(key) && younger.some(({ by }) => by === key)) enqueue(keyOf(sync));
  }
  const { closing } = findLoops([...own, ...effective.filter(isBefore)], of.key);
  const looping = new Set(closing.flatMap(({ from, to }) => [from, to]));
  return targets.map((target) => (looping.has(keyString(target)) ? { ...target, problem: 'CycleDetected' } : target));
}

/** Whether a ConfigMapSync was there before another; of two that came in the same second, the first by name. */
function isOlder(one: ConfigMapSync, other: ConfigMapSync): boolean {
  const [mine = '', theirs = ''] = [one, other].map(({ metadata }) => metadata?.creationTimestamp);
  return mine === theirs ? keyString(keyOf(one)) < keyString(keyOf(other)) : mine < theirs;
}
