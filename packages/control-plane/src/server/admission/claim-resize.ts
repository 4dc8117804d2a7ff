import type { PersistentVolumeClaim, StorageClass } from '@bowline/kubernetes';
import { compareQuantities, parseQuantity } from '@bowline/machinery';
import type { Storage } from '../storage/storage.ts';
import { keyIn, objectOf } from '../storage/stored.ts';
import { storageClassOf } from '../volumes/storage-class-of.ts';
import type { AdmissionPlugin } from './admission.ts';
import { refuse } from './admission.ts';

const CLASSES = 'storageclasses.storage.k8s.io';

/** claimResize lets only bound claims grow, and only if their class allows it. */
export function claimResize(storage: Storage): AdmissionPlugin {
  return {
    name: 'PersistentVolumeClaimResize',
    validate(request) {
      const { operation, resource, subresource, object, old } = request;
      if (operation !== 'UPDATE' || resource.collection !== 'persistentvolumeclaims' || subresource) return;
      const [claim, before] = [object as PersistentVolumeClaim, old as PersistentVolumeClaim];
      if (compareQuantities(sizeOf(claim), sizeOf(before)) <= 0) return;
      if (before.status?.phase !== 'Bound') {
        throw refuse(request, 'Only bound persistent volume claims can be expanded');
      }
      if (!isExpandable(storage, claim, before)) {
        throw refuse(
          request,
          'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
        );
      }
    },
  };
}

function sizeOf({ spec }: PersistentVolumeClaim) {
  return parseQuantity(spec?.resources?.requests?.storage ?? '0');
}

function isExpandable(storage: Storage, claim: PersistentVolumeClaim, before: PersistentVolumeClaim): boolean {
  const name = storageClassOf(claim);
  if (!name || name !== storageClassOf(before)) return false;
  const stored = storage.get(CLASSES, keyIn('', name));
  return stored !== undefined && (objectOf(stored) as StorageClass).allowVolumeExpansion === true;
}
