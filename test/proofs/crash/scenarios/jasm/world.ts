import { until, untilList } from '@bowline/control-plane/testing';
import { ConfigMap, Namespace, Pod, Secret, ServiceAccount } from '@bowline/kubernetes';
import type { Client } from '@bowline/runtime';
import { inParallel } from '../../in-parallel.ts';
import type { Store } from './store.ts';

/** PREFIX begins what JASM reads and writes; see docs/operators/jasm. */
export const PREFIX = 'jasm.codnod.io';

/** MANAGED_BY and its value make a Secret JASM's. */
export const MANAGED_BY = 'app.kubernetes.io/managed-by';
export const MANAGER = 'caronte';

const NAMESPACES = 20;
const PATIENCE_MS = 60_000;
const NEIGHBOUR = { namespace: 'crash-neighbour', name: 'neighbour' };

/** namespaces are where pods ask. */
export const namespaces: readonly string[] = Array.from(
  { length: NAMESPACES },
  (_, index) => `crash-${String(index).padStart(2, '0')}`,
);

/** askingPod is a pod that asks, and that no node ever gets. */
export function askingPod(
  key: { readonly namespace: string; readonly name: string },
  ask: { readonly path: string; readonly secretName: string; readonly deletionPolicy?: 'Delete' | 'Retain' },
): Pod {
  return {
    metadata: { ...key, annotations: { [`${PREFIX}/secret-sync`]: JSON.stringify({ provider: 'mock', ...ask }) } },
    spec: { schedulerName: 'nobody', containers: [{ name: 'main', image: 'example.test/main:1' }] },
  };
}

/** makeNamespaces makes the namespaces, and waits until they have all that the control plane puts into them. */
export async function makeNamespaces(admin: Client): Promise<void> {
  const names = [...namespaces, NEIGHBOUR.namespace];
  await inParallel(names, (name) => admin.create(Namespace, { metadata: { name } }));
  const all = (await admin.list(Namespace)).items.length;
  const options = { timeoutMs: PATIENCE_MS };
  const called = (name: string) => ({ fieldSelector: `metadata.name=${name}` });
  await untilList(admin, ServiceAccount, called('default'), ({ length }) => length === all, options);
  await untilList(admin, ConfigMap, called('kube-root-ca.crt'), ({ length }) => length === all, options);
}

/**
 * makeBystanders puts things beside the pods that the operator has no business with, though it might think so: a pod with a Secret of
 * its own, Secrets of others, and one of JASM's that nobody asks for any more.
 */
export async function makeBystanders(admin: Client, store: Store): Promise<void> {
  await store.put(new Map([['/neighbour', { theirs: 'all of it' }]]));
  await admin.create(Pod, askingPod(NEIGHBOUR, { path: '/neighbour', secretName: NEIGHBOUR.name }));
  await inParallel(namespaces, async (namespace) => {
    const own = (name: string, labels: Readonly<Record<string, string>> = {}): Secret => ({
      metadata: { namespace, name, labels },
      data: { mine: Buffer.from(name).toString('base64') },
    });
    await admin.create(Secret, own('settings'));
    await admin.create(Secret, own('left-behind', { [MANAGED_BY]: MANAGER, [`${PREFIX}/provider`]: 'mock' }));
    await admin.create(ConfigMap, { metadata: { namespace, name: 'settings' }, data: { mine: 'x' } });
  });
}

/** untilNeighbourIsServed waits until the bystander that the operator looks after has what it asked for. */
export async function untilNeighbourIsServed(admin: Client): Promise<void> {
  await until(admin, Secret, NEIGHBOUR, ({ data }) => data?.theirs !== undefined, { timeoutMs: PATIENCE_MS });
}
