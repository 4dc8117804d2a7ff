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
import type { Client } from '@bowline/runtime/client';
import { inParallel } from '../../in-parallel.ts';

/** SOURCES is the namespace of sources and their ConfigMapSyncs. */
export const SOURCES = 'crash-sources';

/** COPIES labels the namespaces that get a copy of every case, HALF every other of them. */
export const COPIES = 'crash.bowline.dev/copies';
export const HALF = 'crash.bowline.dev/half';

const TIMEOUT_MS = 180_000;

/** The neighbour is a ConfigMapSync of another owner, with copies in the same namespaces. */
export const NEIGHBOUR = { namespace: 'crash-neighbour', name: 'neighbour' };
const NEIGHBOUR_COPIES = 8;

/** makeNamespaces creates the namespaces of the copies, and waits until the control plane has filled them. */
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
      timeoutMs: TIMEOUT_MS,
    });
  await complete(ServiceAccount, 'default');
  await complete(ConfigMap, 'kube-root-ca.crt');
  return names;
}

/**
 * makeBystanders creates objects next to the copies that the operator must not touch, although they look similar: copies of
 * another ConfigMapSync, ConfigMaps with its label or with the annotations of a ConfigMapSync that does not exist, a Secret.
 */
export async function makeBystanders(admin: Client, namespaces: readonly string[]): Promise<void> {
  const near = namespaces.slice(0, NEIGHBOUR_COPIES);
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
