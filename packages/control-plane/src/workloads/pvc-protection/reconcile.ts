import { keyOf, keyString, PersistentVolumeClaim, Pod, parseKey } from '@bowline/kubernetes';
import { keyed } from '@bowline/runtime';
import { isNotFound } from '@bowline/runtime/client';
import { isFinished } from '../pods/pod-state.ts';

const FINALIZER = 'kubernetes.io/pvc-protection';

// Keyed, because only claims that are being deleted have work to do. The finalizer is set by the admission of claims; a
// `cleanup` would also set it itself, under its own field manager.
const sources = keyed('claim-protection')
  .watches(PersistentVolumeClaim, { view: 'metadata', map: (claim) => [keyString(keyOf(claim))] })
  .watches(Pod, { indexes: { claim: claimsOf }, map: claimsOf });

type Context = Parameters<Parameters<(typeof sources)['reconcile']>[0]>[0];

/** pvcProtection releases PersistentVolumeClaims that are being deleted when no Pod uses them any more. */
export const pvcProtection = sources.reconcile(reconcile);

async function reconcile({ key, get, list, live }: Context): Promise<void> {
  const claim = get(PersistentVolumeClaim, parseKey(key));
  const { deletionTimestamp, finalizers, resourceVersion } = claim?.metadata ?? {};
  if (deletionTimestamp === undefined || !finalizers?.includes(FINALIZER)) return;
  if (list(Pod, { by: { claim: key } }).some((pod) => !isFinished(pod))) return;
  const body = { metadata: { resourceVersion, finalizers: finalizers.filter((each) => each !== FINALIZER) } };
  await live.patch(PersistentVolumeClaim, parseKey(key), { type: 'merge', body }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

/** claimsOf returns the keys of the claims that a Pod uses. */
function claimsOf({ metadata, spec }: Pod): readonly string[] {
  return (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim: claim, ephemeral }) => {
    const claimName = claim?.claimName ?? (ephemeral ? `${metadata?.name ?? ''}-${name}` : undefined);
    return claimName === undefined ? [] : [keyString({ namespace: metadata?.namespace, name: claimName })];
  });
}
