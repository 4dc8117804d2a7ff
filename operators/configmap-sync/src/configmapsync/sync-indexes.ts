import { keyOf, keyString } from '@bowline/kubernetes';
import type { ConfigMapSync } from '../api/config-map-sync.ts';
import { ownerText } from '../copies/ownership.ts';
import { namedTargets } from '../targets/resolve-targets.ts';

/** anyNamespace is a target, in the index `writes`, of a ConfigMapSync with a selector. */
export function anyNamespace(name: string): string {
  return `*/${name}`;
}

/** syncIndexes find ConfigMapSyncs by what they have to do with other objects. ConfigMaps are `namespace/name`. */
export const syncIndexes = {
  /** By the ConfigMaps that they copy from. */
  reads: ({ spec }: ConfigMapSync) => [
    keyString({ namespace: spec.sourceNamespace, name: spec.configMapName }),
    ...(spec.direction === 'Bidirectional' ? namedTargets(spec).map(keyString) : []),
  ],
  /** By the ConfigMaps that they copy to. A selector is the name in any namespace. */
  writes: ({ spec }: ConfigMapSync) => [
    ...namedTargets(spec).map(keyString),
    ...(spec.destinationSelector ? [anyNamespace(spec.targetName ?? spec.configMapName)] : []),
  ],
  /** By the namespaces that they name. */
  namespace: ({ spec }: ConfigMapSync) => [...new Set(namedTargets(spec).map(({ namespace }) => namespace))],
  /** Those with a selector. */
  selecting: ({ spec }: ConfigMapSync) => (spec.destinationSelector ? [YES] : []),
  /** By what the labels of their copies say. */
  owner: (sync: ConfigMapSync) => [ownerText(keyOf(sync))],
  /** Those that give way to others of a cycle, as far as is known. */
  cyclic: ({ status }: ConfigMapSync) =>
    status?.destinations?.some(({ reason }) => reason === 'CycleDetected') ? [YES] : [],
} as const;

/** YES is the value in indexes that say whether something holds. */
export const YES = 'yes';
