import { ConfigMapSync, GROUP, LABELS, MANAGED_BY, MANAGER } from '@bowline/configmap-sync';
import { untilList } from '@bowline/control-plane/testing';
import {
  ConfigMap,
  type KubernetesObject,
  Namespace,
  type Resource,
  Secret,
  ServiceAccount,
} from '@bowline/kubernetes';
import type { Client } from '@bowline/runtime';
import { inParallel } from '../../in-parallel.ts';

/** SOURCES is the namespace of sources and their ConfigMapSyncs. */
export const SOURCES = 'crash-sources';

/** COPIES marks the namespaces that get a copy of every case, HALF every other of them. */
export const COPIES = 'crash.bowline.dev/copies';
export const HALF = 'crash.bowline.dev/half';

const PATIENCE_MS = 180_000;

/** The neighbour is a ConfigMapSync of somebody else's, with copies in the same namespaces. */
export const NEIGHBOUR = { namespace: 'crash-neighbour', name: 'neighbour' };
const MOST_OF_NEIGHBOUR = 8;

/** makeNamespaces makes the namespaces of the copies, and waits until they have all that the control plane puts into them. */
export async function makeNamespaces(admin: Client, count: number): Promise<readonly string[]> {
  const names = Array.from({ length: count }, (_, index) => `crash-${String(index).padStart(4, '0')}`);
  const labels = names.map((_, index) => ({ [COPIES]: 'true', ...(index % 2 === 0 ? { [HALF]: 'true' } : {}) }));
  for (const name of [SOURCES, NEIGHBOUR.namespace]) await admin.create(Namespace, { metadata: { name } });
  await inParallel([...names.entries()], ([index, name]) =>
    admin.create(Namespace, { metadata: { name, labels: labels[index] } }),
  );
  const all = (await admin.list(Namespace)).items.length;
  const complete = <T extends KubernetesObject>(resource: Resource<T>, name: string) =>
    untilList(admin, resource, { fieldSelector: `metadata.name=${name}` }, ({ length }) => length === all, {
      timeoutMs: PATIENCE_MS,
    });
  await complete(ServiceAccount, 'default');
  await complete(ConfigMap, 'kube-root-ca.crt');
  return names;
}

/**
 * makeBystanders puts things beside the copies that the operator has no business with, though it might think so: copies of
 * another ConfigMapSync, ConfigMaps with its label or with the marks of a ConfigMapSync that does not exist, a Secret.
 */
export async function makeBystanders(admin: Client, namespaces: readonly string[]): Promise<void> {
  const near = namespaces.slice(0, MOST_OF_NEIGHBOUR);
  await admin.create(ConfigMap, { metadata: NEIGHBOUR, data: { theirs: 'all of it' } });
  await admin.create(
    ConfigMapSync,
    ConfigMapSync.withDefaults({
      metadata: NEIGHBOUR,
      spec: {
        sourceNamespace: NEIGHBOUR.namespace,
        configMapName: NEIGHBOUR.name,
        destinations: near.map((namespace) => ({ namespace })),
      },
    }),
  );
  await inParallel(near, async (namespace) => {
    const own = (name: string, labels: Readonly<Record<string, string>> = {}): ConfigMap => ({
      metadata: { namespace, name, labels },
      data: { mine: name },
    });
    const left = { [MANAGED_BY]: MANAGER, [LABELS.syncNamespace]: SOURCES, [LABELS.syncName]: 'long-gone' };
    await admin.create(ConfigMap, own('settings'));
    await admin.create(ConfigMap, own('labelled', { [MANAGED_BY]: MANAGER, [`${GROUP}/else`]: 'x' }));
    await admin.create(ConfigMap, own('left-behind', left));
    await admin.create(Secret, { metadata: { namespace, name: 'settings' }, stringData: { mine: 'x' } });
  });
}
