import { keyOf, keyString } from '@bowline/kubernetes';
import type { ConfigMapSync } from '../api/config-map-sync.ts';
import { ownerText } from '../copies/ownership.ts';
import { namedTargets } from '../targets/resolve-targets.ts';

/** anyNamespace returns the target, in the index `writes`, of a ConfigMapSync with a selector. */
export function anyNamespace(name: string): string {
  return `*/${name}`;
}

/** syncIndexes find ConfigMapSyncs by their relation to other objects. ConfigMaps are `namespace/name`. */
export const syncIndexes = {
  /** By the ConfigMaps that they copy from. */
  reads: ({ spec }: ConfigMapSync) => [
    keyString({ namespace: spec.sourceNamespace, name: spec.configMapName }),
    ...(spec.direction === 'Bidirectional' ? namedTargets(spec).map(keyString) : []),
  ],
  /** By the ConfigMaps that they copy to. A selector is indexed as the name in any namespace. */
  writes: ({ spec }: ConfigMapSync) => [
    ...namedTargets(spec).map(keyString),
    ...(spec.destinationSelector ? [anyNamespace(spec.targetName ?? spec.configMapName)] : []),
  ],
  /** By the namespaces that they name. */
  namespace: ({ spec }: ConfigMapSync) => [...new Set(namedTargets(spec).map(({ namespace }) => namespace))],
  /** Those with a selector. */
  selecting: ({ spec }: ConfigMapSync) => (spec.destinationSelector ? [YES] : []),
  /** By the owner text in the labels of their copies. */
  owner: (sync: ConfigMapSync) => [ownerText(keyOf(sync))],
  /** Those that yield to others in a cycle, according to their status. */
  cyclic: ({ status }: ConfigMapSync) =>
    status?.destinations?.some(({ reason }) => reason === 'CycleDetected') ? [YES] : [],
} as const;

/** YES is the value in boolean indexes. */
export const YES = 'yes';
