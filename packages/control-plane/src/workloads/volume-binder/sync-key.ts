import { PersistentVolume, PersistentVolumeClaim, parseKey } from '@bowline/kubernetes';
import { isNotFound } from '@bowline/runtime/client';
import type { BinderContext } from './reconcile.ts';
import { syncClaim } from './sync-claim.ts';
import { syncVolume } from './sync-volume.ts';

/** syncKey processes one claim or volume. */
export async function syncKey(context: BinderContext): Promise<void> {
  const [kind, key = ''] = context.key.split(' ');
  try {
    if (kind === 'claim') {
      const claim = context.get(PersistentVolumeClaim, parseKey(key));
      if (claim) await syncClaim(context, claim);
    } else {
      const volume = context.get(PersistentVolume, { name: key });
      if (volume) await syncVolume(context, volume);
    }
  } catch (error) {
    // It was deleted meanwhile: the watch will report it.
    if (!isNotFound(error)) throw error;
  }
}
