import { keyString, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from '@bowline/kubernetes';
import { keyed } from '@bowline/runtime';
import { storageClassOf } from '../../server/volumes/storage-class-of.ts';
import { claimKeysOf } from '../pods/pod-claims.ts';
import type { WorkloadDeps } from '../pods/workload-events.ts';
import { BIND_COMPLETED, hasAnnotation } from './volume-annotations.ts';

// Keyed by the claims and volumes that a change concerns. One at a time: two concurrent runs could bind two claims to
// the same volume.
const sources = keyed('volume-binder', { concurrency: 1 })
  .using<WorkloadDeps>()
  .watches(PersistentVolumeClaim, {
    indexes: {
      unboundOfClass: (claim: PersistentVolumeClaim) => (isUnbound(claim) ? [storageClassOf(claim) ?? ''] : []),
      requested: (claim: PersistentVolumeClaim) => (isUnbound(claim) ? [claim.spec?.volumeName ?? ''] : []),
    },
    map: (claim) => {
      const { volumeName } = claim.spec ?? {};
      return [claimKey(claim), ...(volumeName ? [`volume ${volumeName}`] : [])];
    },
  })
  .watches(PersistentVolume, {
    map: (volume, cache) => {
      const { name } = volume.metadata;
      const { claimRef } = volume.spec ?? {};
      if (claimRef) return [`volume ${name}`, claimKey({ metadata: claimRef })];
      // A free volume is of use to the claims that wait for one of its class, or that name it.
      const waiting = [
        ...cache.list(PersistentVolumeClaim, { by: { unboundOfClass: storageClassOf(volume) ?? '' } }),
        ...cache.list(PersistentVolumeClaim, { by: { requested: name } }),
      ];
      return [`volume ${name}`, ...waiting.map(claimKey)];
    },
  })
  .watches(StorageClass, {
    map: ({ metadata }, cache) =>
      [metadata.name, ''].flatMap((name) =>
        cache.list(PersistentVolumeClaim, { by: { unboundOfClass: name } }).map(claimKey),
      ),
  })
  // Only for their names in events.
  .watches(Pod, { indexes: { claim: claimKeysOf }, map: () => [] });

/** BinderContext is what a run of the binder works with. */
export type BinderContext = Parameters<Parameters<(typeof sources)['reconcile']>[0]>[0];

/**
 * volumeBinder binds PersistentVolumeClaims to PersistentVolumes, asks provisioners for volumes, and applies the reclaim
 * policy of volumes whose claim is deleted.
 */
export const volumeBinder = sources.reconcile(async (context) => {
  // Loaded with the first claim or volume: most control planes have none.
  const { syncKey } = await import('./sync-key.ts');
  return syncKey(context);
});

function claimKey({ metadata }: Pick<PersistentVolumeClaim, 'metadata'>): string {
  return `claim ${keyString({ namespace: metadata?.namespace, name: metadata?.name ?? '' })}`;
}

function isUnbound(claim: PersistentVolumeClaim): boolean {
  return !hasAnnotation(claim, BIND_COMPLETED);
}
