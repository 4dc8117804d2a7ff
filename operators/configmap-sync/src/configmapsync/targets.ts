import { keyOf, keyString, Namespace } from '@bowline/kubernetes';
import { describeProblems } from '@bowline/machinery';
import { ConfigMapSync } from '../api/config-map-sync.ts';
import { reachProblems } from '../authorization/reach.ts';
import { findCycle } from '../cycles/find-cycle.ts';
import { syncEdges, syncOf } from '../cycles/sync-edges.ts';
import {
  type NamespaceView,
  namedTargets,
  namespaceView,
  resolveTargets,
  type Target,
} from '../targets/resolve-targets.ts';
import { checkSpec } from '../validation/check-spec.ts';
import { refusal } from './refusal.ts';
import { YES } from './sync-indexes.ts';
import type { SyncContext } from './watching.ts';

/** refuseInvalid ends the run when the spec asks for something that its schema could not refuse. Only its author can help. */
export function refuseInvalid(context: SyncContext): void {
  const { object, key, deps } = context;
  const { spec } = object;
  const problems = [...checkSpec(spec), ...reachProblems(spec, key.namespace ?? '', deps.namespaces)];
  if (problems.length > 0) throw refusal(context, 'InvalidSpec', describeProblems(problems));
}

/** targetsOf are the ConfigMaps that should be copies. */
export function targetsOf(context: SyncContext): readonly Target[] {
  const { spec } = context.object;
  return resolveTargets(spec, spec.destinationSelector ? allNamespaces(context) : namedNamespaces(context));
}

/** refuseCycle ends the run when what it would write comes back to its source by way of others, and tells those others. */
export function refuseCycle(context: SyncContext, targets: readonly Target[]): void {
  const { object, list, enqueue } = context;
  const of = syncOf(object);
  const othersThatRead = (node: string) =>
    list(ConfigMapSync, { by: { reads: node } }).filter((sync) => keyString(keyOf(sync)) !== of.key);
  // Copies that nobody copies further, as almost all are, need no search.
  if (!targets.some((target) => othersThatRead(keyString(target)).length > 0)) return;
  const cycle = findCycle(syncEdges(of, list(ConfigMapSync).map(syncOf), allNamespaces(context)), of.key);
  if (!cycle) return;
  const known = new Set(list(ConfigMapSync, { by: { cyclic: YES } }));
  for (const other of cycle.flatMap(othersThatRead)) if (!known.has(other)) enqueue(keyOf(other));
  const [source, copy] = cycle;
  // What lies between may be somebody else's: only what the author names is told.
  throw refusal(
    context,
    'CycleDetected',
    `${copy} is copied back to ${source} by other ConfigMapSyncs; choose another destination or name, or delete one of them`,
  );
}

/** allNamespaces are undefined where the manager may not see them. */
function allNamespaces({ list, deps }: SyncContext): readonly NamespaceView[] | undefined {
  return deps.namespaces ? undefined : list(Namespace).map(namespaceView);
}

/** Of a thousand namespaces, a ConfigMapSync without a selector concerns one or two. */
function namedNamespaces({ object, get, deps }: SyncContext): readonly NamespaceView[] | undefined {
  if (deps.namespaces) return undefined;
  return namedTargets(object.spec).flatMap(({ namespace }) => {
    const found = get(Namespace, { name: namespace });
    return found ? [namespaceView(found)] : [];
  });
}
