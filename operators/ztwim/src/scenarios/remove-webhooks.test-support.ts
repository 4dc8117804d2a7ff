import {
  type KubernetesObject,
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from '@bowline/kubernetes';
import { isAlreadyExists } from '@bowline/runtime/client';
import { expect } from 'vitest';
import { SINGLETON } from '../api/names.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import type { ZtwimCluster } from '../testing/ztwim-cluster.test-support.ts';

/** removeWebhooks deletes the webhooks, and waits until the API server no longer calls them. */
export async function removeWebhooks(c: ZtwimCluster): Promise<void> {
  for (const kind of [ValidatingWebhookConfiguration, MutatingWebhookConfiguration] as const) {
    const { items } = await c.admin.list<KubernetesObject>(kind);
    for (const { metadata } of items) await c.admin.delete(kind, { name: metadata?.name ?? '' });
  }
  const refused = { metadata: { name: SINGLETON }, spec: {} } as never;
  const isAccepted = () =>
    c.admin.create(ZeroTrustWorkloadIdentityManager, refused, { dryRun: true }).then(
      () => true,
      // It is refused before it is found to exist.
      (error: unknown) => isAlreadyExists(error),
    );
  await expect.poll(isAccepted).toBe(true);
}
