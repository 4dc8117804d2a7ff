import { Namespace } from '@bowline/kubernetes';
import type { Operator } from '@bowline/runtime';
import { isNotFound } from '@bowline/runtime/client';
import { applyInstallNamespaces, installNamespaceManifests } from '@bowline/runtime/install';
import type { ClusterWithoutOperators } from './cluster.ts';
import { CLUSTER_LABEL } from './isolated-client.ts';
import { waitFor } from './wait-for.ts';

/**
 * createInstallNamespaces does what an administrator does in production: it creates the namespaces of an operator whose
 * names are settings. They belong to the test, so that its webhooks and policies apply to them, and are deleted with the
 * cluster, unless they existed before. On a control plane that is reused they stay, empty, and the next test takes them
 * over. It returns the names of those that belong to the test.
 */
export async function createInstallNamespaces(
  c: ClusterWithoutOperators,
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
    const existing = await c.admin.find(Namespace, key);
    const owner = existing?.metadata?.labels?.[CLUSTER_LABEL];
    const isOfEarlierTest = c.isReused && owner !== undefined && owner !== c.namespace;
    if (existing && !isOfEarlierTest) continue;
    created.push(key.name);
    const labels = { [CLUSTER_LABEL]: c.namespace };
    if (existing) {
      const body = [{ op: 'replace' as const, path: '/metadata/labels', value: labels }];
      await c.admin.patch(Namespace, key, { type: 'json', body });
    } else {
      await c.admin.create(Namespace, { metadata: { ...key, labels } });
    }
    if (c.isReused) continue;
    c.onDispose(() =>
      c.admin.delete(Namespace, key).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      }),
    );
  }
  await applyInstallNamespaces(c.admin, configured, { signal });
  return created;
}
