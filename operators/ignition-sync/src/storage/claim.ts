import type { PersistentVolumeClaim } from '@bowline/kubernetes';
import { compareQuantities, parseQuantity } from '@bowline/machinery';
import type { IgnitionSyncSpec } from '../api/ignition-sync.ts';

/** StorageSpec is the requested volume. */
export type StorageSpec = NonNullable<IgnitionSyncSpec['storage']>;

/** claimSpec returns the spec of a new claim, or of an existing one that becomes larger. */
export function claimSpec({ storageClassName, size, accessMode }: StorageSpec): PersistentVolumeClaim['spec'] {
  return {
    accessModes: [accessMode],
    // An empty name would mean a volume without a class; absent means the class of the cluster.
    ...(storageClassName === '' ? {} : { storageClassName }),
    resources: { requests: { storage: String(size) } },
  };
}

/**
 * immutableProblem returns why an existing claim cannot have the requested values: only its size may change, and only grow.
 * Undefined if it can.
 */
export function immutableProblem({ metadata, spec }: PersistentVolumeClaim, storage: StorageSpec): string | undefined {
  const name = metadata?.name;
  const { storageClassName: storageClass, size, accessMode } = storage;
  if (storageClass !== '' && spec?.storageClassName !== storageClass) {
    return `PersistentVolumeClaim ${name} has the class ${spec?.storageClassName ?? ''}, which cannot be changed to ${storageClass}; restore spec.storage.storageClassName, or delete the claim`;
  }
  const mode = spec?.accessModes?.[0] ?? '';
  if (mode !== accessMode) {
    return `PersistentVolumeClaim ${name} has the access mode ${mode}, which cannot be changed to ${accessMode}; restore spec.storage.accessMode, or delete the claim`;
  }
  const current = spec?.resources?.requests?.storage;
  if (current !== undefined && compareQuantities(parseQuantity(size), parseQuantity(current)) < 0) {
    return `PersistentVolumeClaim ${name} has ${current} and cannot be reduced to ${size}; restore spec.storage.size, or delete the claim`;
  }
  return undefined;
}
