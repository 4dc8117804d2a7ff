import { until, untilList } from '@bowline/control-plane/testing';
import { ConfigMap, Namespace, Pod, Secret, ServiceAccount } from '@bowline/kubernetes';
import type { Client } from '@bowline/runtime/client';
import { inParallel } from '../../in-parallel.ts';
import type { Store } from './store.ts';

/** PREFIX is the prefix of JASM's annotations; see docs/operators/jasm. */
export const PREFIX = 'jasm.codnod.io';

/** MANAGED_BY and its value mark a Secret as JASM's. */
export const MANAGED_BY = 'app.kubernetes.io/managed-by';
export const MANAGER = 'caronte';

const NAMESPACES = 20;
const TIMEOUT_MS = 60_000;
const NEIGHBOUR = { namespace: 'crash-neighbour', name: 'neighbour' };

/** The namespaces of the requesting pods. */
export const namespaces: readonly string[] = Array.from(
  { length: NAMESPACES },
  (_, index) => `crash-${String(index).padStart(2, '0')}`,
);

/** requestingPod returns a pod that requests a Secret and is never scheduled. */
export function requestingPod(
  key: { readonly namespace: string; readonly name: string },
  ask: { readonly path: string; readonly secretName: string; readonly deletionPolicy?: 'Delete' | 'Retain' },
): Pod {
  return {
    metadata: { ...key, annotations: { [`${PREFIX}/secret-sync`]: JSON.stringify({ provider: 'mock', ...ask }) } },
    spec: { schedulerName: 'nobody', containers: [{ name: 'main', image: 'example.test/main:1' }] },
  };
}

/** makeNamespaces creates the namespaces, and waits until the control plane has filled them. */
export async function makeNamespaces(admin: Client): Promise<void> {
  const names = [...namespaces, NEIGHBOUR.namespace];
  await inParallel(names, (name) => admin.create(Namespace, { metadata: { name } }));
  const all = (await admin.list(Namespace)).items.length;
  const options = { timeoutMs: TIMEOUT_MS };
  const called = (name: string) => ({ fieldSelector: `metadata.name=${name}` });
  await untilList(admin, ServiceAccount, called('default'), ({ length }) => length === all, options);
  await untilList(admin, ConfigMap, called('kube-root-ca.crt'), ({ length }) => length === all, options);
}

/**
 * makeBystanders creates objects next to the pods that the operator must not touch, although they look similar: a pod with its
 * own Secret, Secrets of other owners, and a Secret of JASM that is no longer requested.
 */
export async function makeBystanders(admin: Client, store: Store): Promise<void> {
  await store.put(new Map([['/neighbour', { theirs: 'all of it' }]]));
  await admin.create(Pod, requestingPod(NEIGHBOUR, { path: '/neighbour', secretName: NEIGHBOUR.name }));
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

/** untilNeighbourIsServed waits until the bystander that the operator manages has its Secret. */
export async function untilNeighbourIsServed(admin: Client): Promise<void> {
  await until(admin, Secret, NEIGHBOUR, ({ data }) => data?.theirs !== undefined, { timeoutMs: TIMEOUT_MS });
}
