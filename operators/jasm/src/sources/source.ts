import type { SecretRef } from '../providers/provider.ts';
import type { ConfiguredKind } from '../providers/provider-kinds.ts';

/** Source is a secret of a store, as one that asks means it. */
export interface Source {
  /** The provider's name. */
  readonly provider: string;
  readonly ref: SecretRef;
}

/** sourceKey is the same for two sources exactly when one answer serves both. */
export function sourceKey(kind: ConfiguredKind, ref: SecretRef): string {
  return JSON.stringify([siblingsKey(kind, ref), ref.path]);
}

/** siblingsKey is the same for sources that differ in path alone: those that a provider may read with one call. */
export function siblingsKey(kind: ConfiguredKind, ref: SecretRef): string {
  const asker = kind.dependsOnNamespace(ref) ? ref.namespace : null;
  return JSON.stringify([kind.name, ref.region, ref.role, ref.versionStage, ref.versionId, asker]);
}
