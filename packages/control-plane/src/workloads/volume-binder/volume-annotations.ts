import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '@bowline/kubernetes';
import { storageClassOf } from '../../server/volumes/storage-class-of.ts';

/** BIND_COMPLETED, on a claim, marks that it was bound once: from then on a missing volume is a lost one. */
export const BIND_COMPLETED = 'pv.kubernetes.io/bind-completed';
/** BOUND_BY_CONTROLLER, on a claim or volume, marks a binding that no user requested. */
export const BOUND_BY_CONTROLLER = 'pv.kubernetes.io/bound-by-controller';
/** PROVISIONED_BY, on a volume, names its provisioner. */
export const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by';
/** SELECTED_NODE, on a claim, is the node that the scheduler selected for its first Pod. */
export const SELECTED_NODE = 'volume.kubernetes.io/selected-node';
/** PROVISIONERS are the annotations that ask a provisioner for a volume for the claim, of which the first is older. */
export const PROVISIONERS = [
  'volume.beta.kubernetes.io/storage-provisioner',
  'volume.kubernetes.io/storage-provisioner',
] as const;
/** IN_TREE is the prefix of provisioners that are part of kube-controller-manager. */
export const IN_TREE = 'kubernetes.io/';

/** hasAnnotation reports whether an object has an annotation, whatever its value. */
export function hasAnnotation({ metadata }: PersistentVolume | PersistentVolumeClaim, name: string): boolean {
  return metadata?.annotations?.[name] !== undefined;
}

/** isFullyBound reports whether the binding of a claim is complete. */
export function isFullyBound(claim: PersistentVolumeClaim): boolean {
  return !!claim.spec?.volumeName && hasAnnotation(claim, BIND_COMPLETED);
}

/** ClassLookup returns a StorageClass by its name. */
export type ClassLookup = (name: string) => StorageClass | undefined;

/** isDelayed reports whether a claim is bound only when the scheduler has selected a node for a Pod that uses it. */
export function isDelayed(claim: PersistentVolumeClaim, classNamed: ClassLookup): boolean {
  const name = storageClassOf(claim);
  return !!name && classNamed(name)?.volumeBindingMode === 'WaitForFirstConsumer';
}
