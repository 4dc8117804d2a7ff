import { Namespace } from '@bowline/kubernetes';
import type { Operator } from '@bowline/runtime';
import { isNotFound } from '@bowline/runtime/client';
import { applyInstallNamespaces, installNamespaceManifests } from '@bowline/runtime/install';
import type { Cluster } from './cluster.ts';
import { CLUSTER_LABEL } from './isolated-client.ts';
import { waitFor } from './wait-for.ts';

/**
 * createInstallNamespaces does what an administrator does in production: it creates the namespaces of an operator whose
 * names are settings. They belong to the test, so that its webhooks and policies apply to them, and are deleted with the
 * cluster, unless they existed before. It returns the names of those that it created.
 */
export async function createInstallNamespaces(
  c: Cluster,
  configured: Operator,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const created: string[] = [];
  for (const { metadata } of installNamespaceManifests([configured])) {
    const key = { name: metadata?.name ?? '' };
    // The namespace of an earlier test on the same control plane may still be in deletion.
    const isTerminating = async (): Promise<boolean> =>
      (await c.admin.find(Namespace, key))?.metadata?.deletionTimestamp !== undefined;
    await waitFor(`the previous namespace ${key.name} to be deleted`, async () => !(await isTerminating()), signal);
    if (await c.admin.find(Namespace, key)) continue;
    created.push(key.name);
    await c.admin.create(Namespace, { metadata: { ...key, labels: { [CLUSTER_LABEL]: c.namespace } } });
    c.onDispose(() =>
      c.admin.delete(Namespace, key).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      }),
    );
  }
  await applyInstallNamespaces(c.admin, configured, { signal });
  return created;
}
