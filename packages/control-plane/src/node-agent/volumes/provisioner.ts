import type { Node, PersistentVolume, PersistentVolumeClaim, StorageClass } from '@bowline/kubernetes';

/** PROVISIONER is the name of the node agent's provisioner, for StorageClasses. */
export const PROVISIONER = 'node-agent.bowline.dev/local';

/** STORAGE_CLASS is the name of the default StorageClass, which the node agent creates. */
export const STORAGE_CLASS = 'bowline-local';

/** FINALIZER keeps a volume until its folder is deleted. External provisioners of Kubernetes use the same. */
export const FINALIZER = 'external-provisioner.volume.kubernetes.io/finalizer';

const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by';
const SELECTED_NODE = 'volume.kubernetes.io/selected-node';
const REQUESTED_PROVISIONER = 'volume.kubernetes.io/storage-provisioner';
const HOSTNAME = 'kubernetes.io/hostname';

/**
 * localStorageClass returns the default StorageClass. Binding is immediate: all simulated nodes are on this machine and
 * have access to all folders.
 */
export function localStorageClass(): StorageClass {
  return {
    metadata: { name: STORAGE_CLASS, annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    provisioner: PROVISIONER,
    reclaimPolicy: 'Delete',
    volumeBindingMode: 'Immediate',
  };
}

/** isRequested reports whether a claim waits for a volume of this provisioner. */
export function isRequested({ metadata, spec }: PersistentVolumeClaim): boolean {
  if (spec?.volumeName || metadata?.deletionTimestamp !== undefined) return false;
  return metadata?.annotations?.[REQUESTED_PROVISIONER] === PROVISIONER;
}

/** isProvisioned reports whether a volume is one of this provisioner. */
export function isProvisioned({ metadata }: PersistentVolume): boolean {
  return metadata?.annotations?.[PROVISIONED_BY] === PROVISIONER;
}

/** selectedNode returns the node that a volume is provisioned for; undefined if it is for any. */
export function selectedNode({ metadata }: PersistentVolumeClaim): string | undefined {
  return metadata?.annotations?.[SELECTED_NODE];
}

/** withoutSelectedNode returns the patch that makes the scheduler select a node again. */
export function withoutSelectedNode({ metadata }: PersistentVolumeClaim): object {
  const { uid, resourceVersion } = metadata ?? {};
  return { metadata: { uid, resourceVersion, annotations: { [SELECTED_NODE]: null } } };
}

/** isReleased reports whether a volume has to be deleted: its claim is gone, or it is being deleted itself. */
export function isReleased({ metadata, spec, status }: PersistentVolume): boolean {
  if (spec?.persistentVolumeReclaimPolicy !== 'Delete') return false;
  const isUnused = status?.phase === 'Released' || status?.phase === 'Failed';
  return isUnused || (metadata?.deletionTimestamp !== undefined && status?.phase !== 'Bound');
}

/** volumeNameFor returns the name of the volume for a claim. */
export function volumeNameFor({ metadata }: PersistentVolumeClaim): string {
  return `pvc-${metadata?.uid ?? ''}`;
}

/** provisionProblem returns why a folder cannot be what a claim requests; undefined if it can. */
export function provisionProblem({ spec }: PersistentVolumeClaim, { mountOptions }: StorageClass): string | undefined {
  if (spec?.volumeMode === 'Block') return 'a folder is not a block device: spec.volumeMode must be Filesystem';
  if (spec?.selector) return 'claim.Spec.Selector is not supported';
  if (spec?.dataSource || spec?.dataSourceRef) return 'a new folder is empty: spec.dataSource is not supported';
  return mountOptions?.length ? 'a folder has no mount options: remove them from the StorageClass' : undefined;
}

/** volumeFor returns the volume for a claim; with a node, only this node has access to it. */
export function volumeFor(
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
  { path, node }: { readonly path: string; readonly node: Node | undefined },
): PersistentVolume {
  const { name, namespace, uid, resourceVersion } = claim.metadata ?? {};
  const { accessModes, resources, volumeMode } = claim.spec ?? {};
  const { name: storageClassName } = storageClass.metadata ?? {};
  const persistentVolumeReclaimPolicy = storageClass.reclaimPolicy ?? 'Delete';
  const values = [node?.metadata?.labels?.[HOSTNAME] ?? node?.metadata?.name ?? ''];
  const matchExpressions = [{ key: HOSTNAME, operator: 'In' as const, values }];
  return {
    metadata: {
      name: volumeNameFor(claim),
      annotations: { [PROVISIONED_BY]: PROVISIONER },
      ...(persistentVolumeReclaimPolicy === 'Delete' ? { finalizers: [FINALIZER] } : {}),
    },
    spec: {
      accessModes,
      capacity: { storage: resources?.requests?.storage ?? '0' },
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, uid, resourceVersion },
      persistentVolumeReclaimPolicy,
      storageClassName,
      volumeMode,
      hostPath: { path, type: 'Directory' },
      ...(node ? { nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } } } : {}),
    },
  };
}
