import type { AdmissionPlugin } from './admission.ts';

const FINALIZERS: Readonly<Record<string, string>> = {
  persistentvolumeclaims: 'kubernetes.io/pvc-protection',
  persistentvolumes: 'kubernetes.io/pv-protection',
};

/**
 * storageProtection sets the finalizers that delay the deletion of claims until no Pod uses them, and of volumes until
 * they are not bound. Controllers remove them.
 */
export function storageProtection(): AdmissionPlugin {
  return {
    name: 'StorageObjectInUseProtection',
    mutate({ operation, resource, subresource, object }) {
      const finalizer = FINALIZERS[resource.collection];
      if (operation !== 'CREATE' || finalizer === undefined || subresource || !object) return;
      const { finalizers = [] } = object.metadata;
      if (!finalizers.includes(finalizer)) object.metadata.finalizers = [...finalizers, finalizer];
    },
  };
}
