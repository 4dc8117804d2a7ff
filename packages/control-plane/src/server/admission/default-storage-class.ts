import type { StorageClass } from '@bowline/kubernetes';
import type { Storage } from '../storage/storage.ts';
import { objectOf } from '../storage/stored.ts';
import { defaultStorageClassName, storageClassOf } from '../volumes/storage-class-of.ts';
import type { AdmissionPlugin } from './admission.ts';

const CLASSES = 'storageclasses.storage.k8s.io';

/** defaultStorageClass gives new claims without a class the default one. */
export function defaultStorageClass(storage: Storage): AdmissionPlugin {
  return {
    name: 'DefaultStorageClass',
    mutate({ operation, resource, subresource, object }) {
      if (operation !== 'CREATE' || resource.collection !== 'persistentvolumeclaims' || subresource || !object) return;
      const claim = object as { spec?: { storageClassName?: string } };
      if (storageClassOf(object) !== undefined) return;
      const name = defaultStorageClassName(
        Array.from(storage.select(CLASSES), (stored) => objectOf(stored) as StorageClass),
      );
      if (name !== undefined) claim.spec = { ...claim.spec, storageClassName: name };
    },
  };
}
