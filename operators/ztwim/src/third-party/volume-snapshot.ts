import { type KubernetesObject, resource } from '@bowline/kubernetes';

/** VolumeSnapshot is the type of a snapshot of a volume, as far as the operator uses it. */
export interface VolumeSnapshot extends KubernetesObject {
  readonly spec: {
    readonly source: { readonly persistentVolumeClaimName: string };
    readonly volumeSnapshotClassName?: string | undefined;
  };
  readonly status?:
    | {
        readonly readyToUse?: boolean | undefined;
        readonly error?: { readonly message?: string | undefined } | undefined;
      }
    | undefined;
}

/** VolumeSnapshot is the kind with which storage providers back volumes up. Not every cluster serves it. */
export const VolumeSnapshot = resource<VolumeSnapshot>()({
  group: 'snapshot.storage.k8s.io',
  version: 'v1',
  kind: 'VolumeSnapshot',
  plural: 'volumesnapshots',
  scope: 'Namespaced',
});
