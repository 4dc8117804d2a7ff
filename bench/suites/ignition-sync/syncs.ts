import {
  AGENT_CONTAINER,
  CR_ANNOTATIONS,
  GROUP,
  INJECTION_ANNOTATIONS,
  POD_ANNOTATIONS,
  VERSION,
} from '../../../operators/ignition-sync/src/api/names.ts';
import { BareObserver } from '../../support/bare-observer.ts';
import { watchListPath } from '../../support/bare-watch.ts';
import { createNamespaces } from '../../support/config-maps.ts';
import { MERGE_PATCH } from '../../support/requests.ts';
import { runPod } from '../../support/run-pod.ts';
import { untilPodsCanBeCreated } from '../../support/until-pods-can-be-created.ts';
import type { IgnitionScene } from './scene.ts';

/** TOKEN is the token of the operator for the Git server, which accepts any. */
export const TOKEN = 'token-of-the-operator';
const timeoutMs = 120_000;

/** SyncKey names an IgnitionSync. */
export interface SyncKey {
  readonly namespace: string;
  readonly name: string;
}

const collection = (namespace: string): string => `/apis/${GROUP}/${VERSION}/namespaces/${namespace}/ignitionsyncs`;
const secret = (name: string, data: Readonly<Record<string, string>>): object => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name },
  stringData: data,
});

/** openNamespace creates a namespace with the Secrets that IgnitionSyncs in it name. */
export async function openNamespace({ api }: IgnitionScene, namespace: string): Promise<void> {
  await createNamespaces(api, [namespace]);
  await untilPodsCanBeCreated(api, [namespace]);
  const path = `/api/v1/namespaces/${namespace}/secrets`;
  await api.ok('POST', path, secret('api-key', { key: 'agent:bench-secret' }));
  await api.ok('POST', path, secret('git', { token: TOKEN }));
}

/** createSync creates an IgnitionSync of a repository. Its polling interval is in seconds. */
export async function createSync(
  { api }: IgnitionScene,
  { namespace, name }: SyncKey,
  repo: string,
  interval = 3_600,
): Promise<void> {
  await api.ok('POST', collection(namespace), {
    apiVersion: `${GROUP}/${VERSION}`,
    kind: 'IgnitionSync',
    metadata: { name },
    spec: {
      git: { repo, ref: 'main', auth: { token: { secretRef: { name: 'git', key: 'token' } } } },
      gateway: { apiKeySecretRef: { name: 'api-key', key: 'key' } },
      polling: { interval: `${interval}s` },
    },
  });
}

/** deleteSyncs deletes all IgnitionSyncs of a namespace. */
export async function deleteSyncs({ api }: IgnitionScene, namespace: string): Promise<void> {
  await api.ok('DELETE', collection(namespace));
}

/** requestCommit sets the annotations that the receiver sets after a push. */
export async function requestCommit({ api }: IgnitionScene, key: SyncKey, commit: string): Promise<void> {
  const annotations = {
    [CR_ANNOTATIONS.requestedCommit]: commit,
    [CR_ANNOTATIONS.requestedAt]: new Date().toISOString(),
  };
  await api.ok('PATCH', `${collection(key.namespace)}/${key.name}`, { metadata: { annotations } }, MERGE_PATCH);
}

/** createGatewayPod creates a running pod with an agent, as the injection webhook and kubelet would. */
export async function createGatewayPod(
  { api }: IgnitionScene,
  { namespace, name: cr }: SyncKey,
  name: string,
): Promise<void> {
  const annotations = {
    [POD_ANNOTATIONS.inject]: 'true',
    [POD_ANNOTATIONS.crName]: cr,
    [POD_ANNOTATIONS.servicePath]: '.',
    [POD_ANNOTATIONS.gatewayName]: name,
    [INJECTION_ANNOTATIONS.injected]: 'true',
  };
  await api.ok('POST', `/api/v1/namespaces/${namespace}/pods`, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, annotations },
    spec: {
      nodeName: 'node-1',
      initContainers: [{ name: AGENT_CONTAINER, image: 'example.test/agent:1', restartPolicy: 'Always' }],
      containers: [{ name: 'gateway', image: 'example.test/ignition:8.3' }],
    },
  });
  await runPod(api, { namespace, name, ip: '10.64.0.1', sidecars: [AGENT_CONTAINER] });
}

/** SyncStatus is the part of the status of an IgnitionSync that measurements need. */
export interface SyncStatus {
  readonly lastSyncCommit?: string;
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  readonly discoveredGateways?: readonly { readonly syncedCommit?: string; readonly syncStatus: string }[];
}

/** SyncWatch observes the status of the IgnitionSyncs of a namespace, with a bare watch. */
export interface SyncWatch extends Disposable {
  /** until waits until a status is as expected, and returns when it was observed, as `performance.now()`. */
  until(name: string, expected: (status: SyncStatus) => boolean): Promise<number>;
}

/** watchSyncs observes the IgnitionSyncs of a namespace. */
export async function watchSyncs({ connection }: IgnitionScene, namespace: string): Promise<SyncWatch> {
  const seen = new Map<string, { readonly status: SyncStatus; readonly arrivedMs: number }>();
  const observer = new BareObserver(connection, [watchListPath(collection(namespace))], ({ object }, arrivedMs) => {
    const { status = {} } = object as { readonly status?: SyncStatus };
    seen.set(object.metadata.name, { status, arrivedMs });
  });
  await observer.synced();
  return {
    async until(name, expected) {
      const isExpected = (): boolean => expected(seen.get(name)?.status ?? {});
      const describe = (): string => `for ${name}: ${JSON.stringify(seen.get(name)?.status).slice(0, 2_000)}`;
      await observer.until(isExpected, { timeoutMs, describe });
      return seen.get(name)?.arrivedMs ?? Number.NaN;
    },
    [Symbol.dispose]: () => observer[Symbol.dispose](),
  };
}

/** isSyncedTo returns whether all gateways have a commit. */
export function isSyncedTo(commit: string, gateways: number): (status: SyncStatus) => boolean {
  return ({ conditions = [], discoveredGateways = [] }) =>
    conditions.some(({ type, status }) => type === 'AllGatewaysSynced' && status === 'True') &&
    discoveredGateways.filter(({ syncedCommit }) => syncedCommit === commit).length === gateways;
}
