import { until, untilList } from '@bowline/control-plane/testing';
import { IgnitionSync } from '@bowline/ignition-sync';
import { ConfigMap, Namespace, PersistentVolumeClaim, Pod, Role, Secret, ServiceAccount } from '@bowline/kubernetes';
import { findCondition } from '@bowline/runtime';
import type { Client } from '@bowline/runtime/client';
import {
  AGENT_CONTAINER,
  INJECTION_ANNOTATIONS,
  LABELS,
  MANAGER,
  POD_ANNOTATIONS,
} from '../../../../../operators/ignition-sync/src/api/names.ts';
import type { GitServer } from '../../../../support/git/git-server.ts';
import { reportsDue } from './agents.ts';

const TIMEOUT_MS = 60_000;

/** NAMESPACE is the namespace of the IgnitionSyncs and their gateways. */
export const NAMESPACE = 'crash-plants';

/** The neighbour is an IgnitionSync of another owner, with a gateway. */
const NEIGHBOUR = { namespace: 'crash-neighbour', name: 'neighbour' };

/** ACCOUNTS are the ServiceAccounts of gateways. */
export const ACCOUNTS = ['default', 'gateways'] as const;

const GATEWAY = { apiKeySecretRef: { name: 'api-key', key: 'key' } };

/** makeNamespaces creates the namespaces, and waits until the control plane has filled them. */
export async function makeNamespaces(admin: Client): Promise<void> {
  for (const name of [NAMESPACE, NEIGHBOUR.namespace]) await admin.create(Namespace, { metadata: { name } });
  const all = (await admin.list(Namespace)).items.length;
  const options = { timeoutMs: TIMEOUT_MS };
  const called = (name: string) => ({ fieldSelector: `metadata.name=${name}` });
  await untilList(admin, ServiceAccount, called('default'), ({ length }) => length === all, options);
  await untilList(admin, ConfigMap, called('kube-root-ca.crt'), ({ length }) => length === all, options);
  for (const namespace of [NAMESPACE, NEIGHBOUR.namespace]) {
    await admin.create(ServiceAccount, { metadata: { namespace, name: ACCOUNTS[1] } });
    const data = { key: Buffer.from('agent:secret').toString('base64') };
    await admin.create(Secret, { metadata: { namespace, name: GATEWAY.apiKeySecretRef.name }, data });
  }
}

/**
 * makeBystanders creates objects next to the IgnitionSyncs that the operator must not touch, although they look similar: an
 * IgnitionSync with its own objects, and objects with names and labels of an IgnitionSync that does not exist.
 */
export async function makeBystanders(admin: Client, git: GitServer): Promise<void> {
  const repository = await git.repositories.create('neighbour.git');
  await repository.commit({ 'projects/overview/project.json': '{}' });
  await runGateway(admin, NEIGHBOUR, NEIGHBOUR.name, ACCOUNTS[0]);
  await createSync(admin, NEIGHBOUR, { git: { repo: `${git.url}/neighbour.git`, ref: 'main' } });
  const labels = { 'app.kubernetes.io/managed-by': MANAGER, [LABELS.crName]: 'theirs' };
  const named = (name: string) => ({ namespace: NAMESPACE, name, labels });
  await admin.create(ConfigMap, { metadata: named('ignition-sync-status-theirs'), data: { 'site-0': '{}' } });
  await admin.create(ConfigMap, { metadata: { namespace: NAMESPACE, name: 'ignition-sync-metadata-others' } });
  await admin.create(Role, { metadata: named('ignition-sync-agent-theirs'), rules: [] });
  await admin.create(PersistentVolumeClaim, {
    metadata: named('ignition-sync-repo-theirs'),
    spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '1Gi' } } },
  });
  await admin.create(Secret, { metadata: named('ignition-sync-github-token-theirs'), stringData: { token: 'x' } });
  await admin.create(Pod, {
    metadata: { namespace: NAMESPACE, name: 'unrelated' },
    spec: { schedulerName: 'nobody', containers: [{ name: 'main', image: 'example.test/main:1' }] },
  });
}

/** createSync creates an IgnitionSync. */
export async function createSync(
  admin: Client,
  metadata: NonNullable<IgnitionSync['metadata']>,
  spec: Omit<Parameters<typeof IgnitionSync.withDefaults>[0]['spec'], 'gateway'>,
): Promise<void> {
  await admin.create(IgnitionSync, IgnitionSync.withDefaults({ metadata, spec: { ...spec, gateway: GATEWAY } }));
}

/** runGateway creates a pod with an agent that is ready. No node runs pods here. */
export async function runGateway(
  admin: Client,
  key: { readonly namespace: string; readonly name: string },
  cr: string,
  serviceAccountName: string,
): Promise<void> {
  const annotations = {
    [POD_ANNOTATIONS.inject]: 'true',
    [POD_ANNOTATIONS.crName]: cr,
    [POD_ANNOTATIONS.servicePath]: '.',
    [INJECTION_ANNOTATIONS.injected]: 'true',
  };
  const image = 'example.test/bowline:1';
  await admin.create(Pod, {
    metadata: { ...key, annotations },
    spec: {
      schedulerName: 'nobody',
      serviceAccountName,
      initContainers: [{ name: AGENT_CONTAINER, image, restartPolicy: 'Always' }],
      containers: [{ name: 'gateway', image }],
    },
  });
  const agent = { name: AGENT_CONTAINER, image, imageID: '', ready: true, restartCount: 0, state: {} };
  const body = { status: { phase: 'Running', initContainerStatuses: [agent] } };
  await admin.patch(Pod, key, { type: 'merge', body }, { subresource: 'status' });
}

/** untilNeighbourIsServed waits until the bystander that the operator manages has a synced gateway. */
export async function untilNeighbourIsServed(admin: Client): Promise<void> {
  const options = { timeoutMs: TIMEOUT_MS };
  const { namespace, name } = NEIGHBOUR;
  const metadata = { namespace, name: `ignition-sync-metadata-${name}` };
  const { data } = await until(
    admin,
    ConfigMap,
    metadata,
    ({ data: plan }) => plan?.plan?.includes(name) ?? false,
    options,
  );
  const { reports } = reportsDue(data, undefined, { snapshotCommit: '' });
  const status = { namespace, name: `ignition-sync-status-${name}` };
  await admin.patch(ConfigMap, status, { type: 'merge', body: { data: reports } });
  await until(admin, IgnitionSync, NEIGHBOUR, (sync) => findCondition(sync, 'Ready')?.status === 'True', options);
}
