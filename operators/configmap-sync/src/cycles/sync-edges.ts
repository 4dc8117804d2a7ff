import { keyOf, keyString } from '@bowline/kubernetes';
import type { ConfigMapSync, Spec } from '../api/config-map-sync.ts';
import { type NamespaceView, resolveTargets, type TargetSpec } from '../targets/resolve-targets.ts';
import type { Edge } from './find-loops.ts';

/** Sync is the part of a ConfigMapSync that cycles depend on. */
export interface Sync {
  /** `namespace/name`. */
  readonly key: string;
  readonly spec: TargetSpec & Pick<Spec, 'direction' | 'serviceAccountName'>;
}

/** syncOf returns the part of a ConfigMapSync that cycles depend on. */
export function syncOf(sync: ConfigMapSync): Sync {
  return { key: keyString(keyOf(sync)), spec: sync.spec };
}

/** writingSyncs returns the ConfigMapSyncs that write copies: one that is paused or being deleted closes no cycle. */
export function writingSyncs(syncs: readonly ConfigMapSync[]): readonly Sync[] {
  return syncs.filter(({ spec, metadata }) => !spec.paused && metadata?.deletionTimestamp === undefined).map(syncOf);
}

/**
 * syncEdges returns the edges that matter to a ConfigMapSync: its own, and all that can be reached from them. Copies
 * that are not copied further are omitted. Only the ConfigMapSyncs on these paths are resolved, so that the cost stays
 * low in a large cluster.
 */
export function syncEdges(
  of: Sync,
  all: Iterable<Sync>,
  namespaces: readonly NamespaceView[] | undefined,
): readonly Edge[] {
  const readers = readersOf(of, all);
  const seen = new Set<string>([of.key]);
  const edges: Edge[] = [];
  const found = [of];
  for (const sync of found) {
    for (const edge of edgesOf(sync, namespaces)) {
      const further = readers.get(edge.to);
      if (!further) continue;
      edges.push(edge);
      for (const each of further) {
        if (seen.has(each.key)) continue;
        seen.add(each.key);
        found.push(each);
      }
    }
  }
  return edges;
}

/** readersOf returns the ConfigMapSyncs by the ConfigMap that they read; a two-way sync reads its copy too. */
function readersOf(of: Sync, all: Iterable<Sync>): ReadonlyMap<string, readonly Sync[]> {
  const readers = new Map<string, Sync[]>();
  const add = (sync: Sync): void => {
    for (const { from } of sourceEdges(sync)) {
      const known = readers.get(from);
      if (known) known.push(sync);
      else readers.set(from, [sync]);
    }
  };
  add(of);
  // A changed ConfigMapSync replaces the stored one of the same name.
  for (const sync of all) if (sync.key !== of.key) add(sync);
  return readers;
}

function sourceEdges({ spec }: Sync): readonly { readonly from: string }[] {
  const source = { from: `${spec.sourceNamespace}/${spec.configMapName}` };
  if (spec.direction !== 'Bidirectional') return [source];
  // A two-way sync has one destination, and it is named.
  return [source, ...resolveTargets(spec, undefined).map(({ namespace, name }) => ({ from: `${namespace}/${name}` }))];
}

function edgesOf({ key, spec }: Sync, namespaces: readonly NamespaceView[] | undefined): readonly Edge[] {
  const from = `${spec.sourceNamespace}/${spec.configMapName}`;
  const forward = resolveTargets(spec, namespaces).map(({ namespace, name }) => ({
    from,
    to: `${namespace}/${name}`,
    by: key,
  }));
  if (spec.direction !== 'Bidirectional') return forward;
  return [...forward, ...forward.map((edge) => ({ from: edge.to, to: from, by: key }))];
}
