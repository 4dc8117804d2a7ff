import { keyOf, keyString, PersistentVolumeClaim, Pod, parseKey } from '@bowline/kubernetes';
import { keyed } from '@bowline/runtime';
import { isNotFound } from '@bowline/runtime/client';
import { claimKeysOf, podClaims } from '../pods/pod-claims.ts';

const FINALIZER = 'kubernetes.io/pvc-protection';

// Keyed, because only claims that are being deleted have work to do. The finalizer is set by the admission of claims; a
// `cleanup` would also set it itself, under its own field manager.
const sources = keyed('claim-protection')
  .watches(PersistentVolumeClaim, { map: (claim) => [keyString(keyOf(claim))] })
  .watches(Pod, { indexes: { claim: claimKeysOf }, map: claimKeysOf });

type Context = Parameters<Parameters<(typeof sources)['reconcile']>[0]>[0];

/** pvcProtection releases PersistentVolumeClaims that are being deleted when no Pod uses them any more. */
export const pvcProtection = sources.reconcile(reconcile);

async function reconcile({ key, get, list, live }: Context): Promise<void> {
  const claim = get(PersistentVolumeClaim, parseKey(key));
  const { name, deletionTimestamp, finalizers, resourceVersion } = claim?.metadata ?? {};
  if (deletionTimestamp === undefined || !finalizers?.includes(FINALIZER)) return;
  if (list(Pod, { by: { claim: key } }).some((pod) => keepsClaim(pod, name))) return;
  const body = { metadata: { resourceVersion, finalizers: finalizers.filter((each) => each !== FINALIZER) } };
  await live.patch(PersistentVolumeClaim, parseKey(key), { type: 'merge', body }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

/** keepsClaim reports whether a node may still use the claim for the Pod. A Pod without a node is not started any more. */
function keepsClaim(pod: Pod, claim: string | undefined): boolean {
  if (!pod.spec?.nodeName) return false;
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata ?? {};
  const isShutDown = deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0;
  return podClaims(pod).some(({ name, isEphemeral }) => name === claim && !(isEphemeral && isShutDown));
}
