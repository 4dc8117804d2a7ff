import { keyOf, keyString, PersistentVolumeClaim, Pod, parseKey } from '@bowline/kubernetes';
import { keyed } from '@bowline/runtime';
import { isNotFound } from '@bowline/runtime/client';
import type { Controller } from '@bowline/runtime/controller';
import { isFinished } from './pod-state.ts';

const PROTECTION = 'kubernetes.io/pvc-protection';

/** claimProtection releases PersistentVolumeClaims that are being deleted when no Pod uses them any more. */
export function claimProtection(): Controller<unknown> {
  return keyed('claim-protection')
    .watches(PersistentVolumeClaim, { view: 'metadata', map: (claim) => [keyString(keyOf(claim))] })
    .watches(Pod, { indexes: { claim: claimsOf }, map: claimsOf })
    .reconcile(async ({ key, get, list, live }) => {
      const { deletionTimestamp, finalizers, resourceVersion } =
        get(PersistentVolumeClaim, parseKey(key))?.metadata ?? {};
      if (deletionTimestamp === undefined || !finalizers?.includes(PROTECTION)) return;
      if (list(Pod, { by: { claim: key } }).some((pod) => !isFinished(pod))) return;
      const body = { metadata: { resourceVersion, finalizers: finalizers.filter((each) => each !== PROTECTION) } };
      await live.patch(PersistentVolumeClaim, parseKey(key), { type: 'merge', body }).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    });
}

function claimsOf({ metadata, spec }: Pod): readonly string[] {
  return (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim: claim, ephemeral }) => {
    const claimName = claim?.claimName ?? (ephemeral ? `${metadata?.name ?? ''}-${name}` : undefined);
    return claimName === undefined ? [] : [keyString({ namespace: metadata?.namespace, name: claimName })];
  });
}
