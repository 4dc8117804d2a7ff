import { setTimeout as pause } from 'node:timers/promises';
import { inParallel } from '../../support/api.ts';
import type { RawRequest } from '../../support/raw-request.ts';
import { RevisionWatch } from '../../support/revision-watch.ts';
import { hsmSecretsPath } from './requests.ts';
import type { HsmScene } from './scene.ts';
import { VAULT, VAULT_NAMESPACE } from './vault.ts';
import { nameAt, pathOf } from './vault-content.ts';

/** SYNC_INTERVAL_MS is how often the device is asked for the checksums of the secrets. */
export const SYNC_INTERVAL_MS = 5_000;

const collection = hsmSecretsPath(VAULT_NAMESPACE);
const secretsPath = `/api/v1/namespaces/${VAULT_NAMESPACE}/secrets`;
const writesInFlight = 24;

/** secretRequests returns the requests that create HSMSecrets. */
export function secretRequests(count: number): readonly RawRequest[] {
  return Array.from({ length: count }, (_, index) => ({
    method: 'POST',
    path: collection,
    contentType: 'application/json',
    body: JSON.stringify({
      apiVersion: 'hsm.j5t.io/v1alpha1',
      kind: 'HSMSecret',
      metadata: { name: nameAt(index) },
      spec: { deviceRef: { name: VAULT }, path: pathOf(index), syncInterval: SYNC_INTERVAL_MS / 1_000 },
    }),
  }));
}

/** createSecrets creates HSMSecrets, and waits until each of them has a status. */
export async function createSecrets({ api }: HsmScene, count: number): Promise<void> {
  await inParallel(secretRequests(count), writesInFlight, async ({ method, path, body }) => {
    await api.ok(method, path, JSON.parse(body));
  });
  await untilSecrets(api, (items) => items.filter(({ status }) => status?.syncStatus !== undefined).length === count);
}

/** deleteSecrets deletes all HSMSecrets and waits until they, and with them their Secrets, are gone. The operator must run. */
export async function deleteSecrets({ api }: HsmScene): Promise<void> {
  await api.ok('DELETE', collection);
  await untilSecrets(api, (items) => items.length === 0);
}

interface Item {
  readonly status?: { readonly syncStatus?: string };
}

async function untilSecrets(api: HsmScene['api'], condition: (items: readonly Item[]) => boolean): Promise<void> {
  const deadline = performance.now() + 120_000;
  for (;;) {
    const { items } = JSON.parse(await api.ok('GET', collection)) as { readonly items: readonly Item[] };
    if (condition(items)) return;
    if (performance.now() > deadline) throw new Error(`the HSMSecrets stay at ${JSON.stringify(items.slice(0, 2))}`);
    await pause(100);
  }
}

/** watchDelivered watches all Secrets of the namespace, including those of the bare loop. */
export async function watchDelivered({ connection }: HsmScene): Promise<RevisionWatch> {
  const watch = new RevisionWatch(connection, secretsPath, '');
  try {
    await watch.synced();
    return watch;
  } catch (error) {
    watch[Symbol.dispose]();
    throw error;
  }
}

/** readDelivered returns the first delivered Secret as it is stored. */
export function readDelivered({ api }: HsmScene): Promise<string> {
  return api.ok('GET', `${secretsPath}/${nameAt(0)}`);
}

/** deleteRaw deletes the Secrets of the bare loop. */
export async function deleteRaw({ api }: HsmScene, count: number): Promise<void> {
  const names = Array.from({ length: count }, (_, index) => `raw-${nameAt(index)}`);
  await inParallel(names, writesInFlight, async (name) => {
    await api.ok('DELETE', `${secretsPath}/${name}`);
  });
}
