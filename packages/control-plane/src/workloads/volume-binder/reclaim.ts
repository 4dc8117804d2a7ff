import { keyOf, PersistentVolume } from '@bowline/kubernetes';
import { recordEvent, reportVolume } from './bind.ts';
import type { BinderContext } from './reconcile.ts';
import { IN_TREE, PROVISIONED_BY } from './volume-annotations.ts';

/** The only host paths that kube-controller-manager deletes. */
const DELETABLE_HOST_PATH = /\/tmp\/.+/;

/** reclaim applies the reclaim policy of a volume that was released by its claim. */
export async function reclaim(context: BinderContext, volume: PersistentVolume): Promise<void> {
  switch (volume.spec?.persistentVolumeReclaimPolicy) {
    case 'Delete':
      await deleteVolume(context, volume);
      return;
    case 'Recycle':
      await fail(context, volume, 'VolumeFailedRecycle', 'No recycler plugin found for the volume!');
      return;
    default:
  }
}

/**
 * deleteVolume deletes a volume unless that is up to its provisioner. The host paths of simulated nodes have no
 * content: nothing but the object is deleted.
 */
async function deleteVolume(context: BinderContext, volume: PersistentVolume): Promise<void> {
  const { name = '', annotations, uid = '', deletionTimestamp } = volume.metadata ?? {};
  const provisioner = annotations?.[PROVISIONED_BY];
  if (volume.spec?.csi || (provisioner && !provisioner.startsWith(IN_TREE))) return;
  const { hostPath, local } = volume.spec ?? {};
  if (hostPath && DELETABLE_HOST_PATH.test(hostPath.path)) {
    if (deletionTimestamp === undefined) {
      await context.live.delete(PersistentVolume, keyOf(volume), { preconditions: { uid } });
    }
    return;
  }
  const problem = hostPath
    ? `host_path deleter only supports /tmp/.+ but received provided ${hostPath.path}`
    : `error getting deleter volume plugin for volume "${name}": no ${local ? '' : 'deletable '}volume plugin matched`;
  await fail(context, volume, 'VolumeFailedDelete', problem);
}

async function fail(context: BinderContext, volume: PersistentVolume, reason: string, note: string): Promise<void> {
  if (volume.status?.phase === 'Failed') return;
  await reportVolume(context, volume, 'Failed', note);
  recordEvent(context, PersistentVolume, volume, { type: 'Warning', reason, note });
}
