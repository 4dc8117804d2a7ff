import { PersistentVolume } from '@bowline/kubernetes';
import { keyed } from '@bowline/runtime';
import { isNotFound } from '@bowline/runtime/client';

const FINALIZER = 'kubernetes.io/pv-protection';

// Keyed, for the same reason as the protection of claims.
const sources = keyed('volume-protection').watches(PersistentVolume, { map: ({ metadata }) => [metadata.name] });

type Context = Parameters<Parameters<(typeof sources)['reconcile']>[0]>[0];

/** pvProtection releases PersistentVolumes that are being deleted when they are not bound any more. */
export const pvProtection = sources.reconcile(reconcile);

async function reconcile({ key: name, get, live }: Context): Promise<void> {
  const volume = get(PersistentVolume, { name });
  const { deletionTimestamp, finalizers, resourceVersion } = volume?.metadata ?? {};
  if (deletionTimestamp === undefined || !finalizers?.includes(FINALIZER)) return;
  if (volume?.status?.phase === 'Bound') return;
  const body = { metadata: { resourceVersion, finalizers: finalizers.filter((each) => each !== FINALIZER) } };
  await live.patch(PersistentVolume, { name }, { type: 'merge', body }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}
