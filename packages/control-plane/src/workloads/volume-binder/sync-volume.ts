import { type ObjectKey, PersistentVolume, PersistentVolumeClaim } from '@bowline/kubernetes';
import { recordEvent, reportVolume, unbind } from './bind.ts';
import { hasSameMode } from './match-volume.ts';
import { reclaim } from './reclaim.ts';
import type { BinderContext } from './reconcile.ts';
import { hasAnnotation, PROVISIONED_BY } from './volume-annotations.ts';

/** syncVolume writes the phase of a volume, and reclaims it when its claim is gone. */
export async function syncVolume(context: BinderContext, volume: PersistentVolume): Promise<void> {
  const { claimRef } = volume.spec ?? {};
  // A reservation for a claim by name is completed with the claim.
  if (!claimRef?.uid) {
    await reportVolume(context, volume, 'Available');
    return;
  }
  const claim = await findClaim(context, volume, { namespace: claimRef.namespace, name: claimRef.name ?? '' });
  if (claim?.metadata?.uid !== claimRef.uid) {
    await release(context, volume);
    return;
  }
  const { volumeName } = claim.spec ?? {};
  if (!volumeName) {
    // The claim is synchronized too, unless it can never be bound to the volume.
    if (!hasSameMode(volume, claim)) reportModes(context, volume, claim);
  } else if (volumeName === volume.metadata?.name) {
    await reportVolume(context, volume, 'Bound');
  } else if (isProvisioned(volume)) {
    await release(context, volume);
  } else {
    await unbind(context, volume);
  }
}

/**
 * findClaim returns the claim of a volume. Before the volume is released, the claim is read from the server: it may be
 * newer than the cache.
 */
async function findClaim(
  { get, live }: BinderContext,
  { spec, status }: PersistentVolume,
  key: ObjectKey,
): Promise<PersistentVolumeClaim | undefined> {
  const cached = get(PersistentVolumeClaim, key);
  const isReleased = status?.phase === 'Released' || status?.phase === 'Failed';
  if (cached?.metadata.uid === spec?.claimRef?.uid || (!cached && isReleased)) return cached;
  return live.find(PersistentVolumeClaim, key);
}

async function release(context: BinderContext, volume: PersistentVolume): Promise<void> {
  const { phase } = volume.status ?? {};
  const released =
    phase === 'Released' || phase === 'Failed' ? volume : await reportVolume(context, volume, 'Released');
  await reclaim(context, released);
}

/** A volume that was provisioned for a claim that is bound to another one is of no use. */
function isProvisioned(volume: PersistentVolume): boolean {
  return hasAnnotation(volume, PROVISIONED_BY) && volume.spec?.persistentVolumeReclaimPolicy === 'Delete';
}

function reportModes(context: BinderContext, volume: PersistentVolume, claim: PersistentVolumeClaim): void {
  const mismatch = { type: 'Warning', reason: 'VolumeMismatch' } as const;
  const [ofVolume, ofClaim] = [volume.metadata?.name ?? '', claim.metadata?.name ?? ''];
  recordEvent(context, PersistentVolume, volume, {
    ...mismatch,
    note: `Cannot bind PersistentVolume to requested PersistentVolumeClaim "${ofClaim}" due to incompatible volumeMode.`,
  });
  recordEvent(context, PersistentVolumeClaim, claim, {
    ...mismatch,
    note: `Cannot bind PersistentVolume "${ofVolume}" to requested PersistentVolumeClaim due to incompatible volumeMode.`,
  });
}
