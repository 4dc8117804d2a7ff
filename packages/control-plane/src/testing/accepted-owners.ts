import { apiVersionOf, ConfigMap, type Resource } from '@bowline/kubernetes';
import { isForbidden } from '@bowline/runtime/client';
import type { Cluster } from './cluster.ts';
import { waitFor } from './wait-for.ts';

/** Kinds that were seen to own objects, by the address of the API server: one check is enough. */
const acceptedOwners = new Map<string, Set<string>>();

/**
 * forgetAcceptedOwners makes the next test check again which kinds may own objects: the API server forgets a kind whose
 * definition was deleted.
 */
export function forgetAcceptedOwners(server: string): void {
  acceptedOwners.delete(server);
}

/**
 * untilOwnerAccepted waits until the API server accepts objects of a kind as owners. Its admission discovers new kinds
 * only every 30 s, and until then rejects, for all users but administrators, any object that they would own.
 */
export async function untilOwnerAccepted(c: Cluster, owner: Resource, signal: AbortSignal | undefined): Promise<void> {
  const { url } = c.controlPlane;
  const accepted = acceptedOwners.get(url) ?? new Set();
  acceptedOwners.set(url, accepted);
  if (accepted.has(owner.id)) return;
  const { client } = await c.serviceAccount({
    clusterRules: [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['create'] },
      { apiGroups: [owner.group], resources: [`${owner.plural}/finalizers`], verbs: ['update'] },
    ],
  });
  const reference = {
    apiVersion: apiVersionOf(owner),
    kind: owner.kind,
    name: 'owner',
    uid: '00000000-0000-0000-0000-000000000000',
    blockOwnerDeletion: true,
  };
  const owned = { metadata: { namespace: c.namespace, name: 'owned', ownerReferences: [reference] } };
  const isOwnerAccepted = async (): Promise<boolean> => {
    try {
      await client.create(ConfigMap, owned, { dryRun: true });
      accepted.add(owner.id);
      return true;
    } catch (error) {
      if (isForbidden(error)) return false;
      throw error;
    }
  };
  await waitFor(`the API server to let ${owner.kind} own objects`, isOwnerAccepted, signal);
}
