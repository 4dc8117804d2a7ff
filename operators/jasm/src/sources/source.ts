import type { SecretRef } from '../providers/provider.ts';
import type { ConfiguredKind } from '../providers/provider-kinds.ts';

/** Source is a secret of a store, as a requester refers to it. */
export interface Source {
  /** The provider's name. */
  readonly provider: string;
  readonly ref: SecretRef;
}

/** sourceKey returns the same key for two sources exactly when one answer serves both. */
export function sourceKey(kind: ConfiguredKind, ref: SecretRef): string {
  return JSON.stringify([siblingsKey(kind, ref), ref.path]);
}

/**
 * siblingsKey returns the same key for sources that differ only in path: those that a provider may read with one call.
 */
export function siblingsKey(kind: ConfiguredKind, ref: SecretRef): string {
  const requester = kind.dependsOnNamespace(ref) ? ref.namespace : null;
  return JSON.stringify([kind.name, ref.region, ref.role, ref.versionStage, ref.versionId, requester]);
}
