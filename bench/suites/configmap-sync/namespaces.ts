import { setTimeout as pause } from 'node:timers/promises';
import { type Api, inParallel } from '../../support/api.ts';

const writesInFlight = 24;

/** namespaceName returns the name of the namespace with this index. */
export function namespaceName(index: number): string {
  return `copies-${String(index).padStart(5, '0')}`;
}

/** setLabel returns the label of the first `size` namespaces, so that a selector selects exactly that many. */
export function setLabel(size: number): string {
  return `bench.bowline.dev/first-${size}`;
}

/** createCopyNamespaces creates the namespaces from one index to another, each with the labels of its sets. */
export async function createCopyNamespaces(
  api: Api,
  range: { readonly from: number; readonly to: number },
  sets: readonly number[],
): Promise<void> {
  const indexes = Array.from({ length: range.to - range.from }, (_, offset) => range.from + offset);
  await inParallel(indexes, writesInFlight, async (index) => {
    const labels = Object.fromEntries(sets.filter((size) => index < size).map((size) => [setLabel(size), 'true']));
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespaceName(index), labels } };
    await api.ok('POST', '/api/v1/namespaces', namespace);
  });
}

/**
 * untilNamespacesAreComplete waits until the controller manager has created the ServiceAccount and the ConfigMap with the
 * cluster's root certificate in every namespace, and is idle.
 */
export async function untilNamespacesAreComplete(api: Api, log: (line: string) => void): Promise<void> {
  const deadline = performance.now() + 180_000;
  let last = '';
  let quiet = 0;
  while (quiet < 3) {
    if (performance.now() > deadline) throw new Error(`the controller manager did not become idle: ${last}`);
    await pause(500);
    const namespaces = await count(api, 'namespaces');
    const accounts = await count(api, 'serviceaccounts');
    const configMaps = await count(api, 'configmaps');
    const now = `${namespaces} namespaces, ${accounts} ServiceAccounts, ${configMaps} ConfigMaps`;
    quiet = now === last && accounts >= namespaces && configMaps >= namespaces ? quiet + 1 : 0;
    last = now;
  }
  log(`the cluster has ${last}`);
}

async function count(api: Api, plural: string): Promise<number> {
  const { items, metadata } = JSON.parse(await api.ok('GET', `/api/v1/${plural}?limit=1`)) as {
    items: unknown[];
    metadata: { remainingItemCount?: number };
  };
  return items.length + (metadata.remainingItemCount ?? 0);
}
