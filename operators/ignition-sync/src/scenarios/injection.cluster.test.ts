import { type Cluster, cluster, type RunningOperators } from '@bowline/control-plane/testing';
import { keyOf, Namespace, Pod, Secret, StatefulSet, ValidatingWebhookConfiguration } from '@bowline/kubernetes';
import { allow, defineOperator } from '@bowline/runtime';
import { REVIEW_PERMISSIONS } from '@bowline/runtime/access';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { AGENT_CONTAINER, OPERATOR } from '../api/names.ts';
import { minimal } from '../api/specs.test-support.ts';
import { config } from '../config.ts';
import { type InjectDeps, inject } from '../webhooks/inject.ts';
import { review } from '../webhooks/review.ts';

/** Only the webhooks: what they do must not depend on the controllers. */
const webhooksOnly = defineOperator({
  ...OPERATOR,
  resources: [IgnitionSync],
  config,
  setup: ({ config: parsed, namespace, namespaces }): InjectDeps => ({
    config: parsed,
    ownNamespace: namespace,
    namespaces,
    agentImage: parsed.agentImage,
    metrics: { injected: () => undefined },
  }),
  webhooks: [inject, review],
  permissions: [...REVIEW_PERMISSIONS, allow(['list'], IgnitionSync)],
});
const settings = { [OPERATOR.name]: { agentImage: 'example.com/bowline:1' } };

let c: Cluster & RunningOperators;
beforeAll(async () => {
  c = await cluster({ operators: [webhooksOnly], config: settings, prefix: 'inject' });
});
afterAll(() => c[Symbol.asyncDispose]());

/** A gateway that pod security restricted admits. */
const template: Pod = {
  spec: {
    securityContext: { runAsNonRoot: true, runAsUser: 2003, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        name: 'gateway',
        image: 'inductiveautomation/ignition',
        volumeMounts: [{ name: 'data', mountPath: '/usr/local/bin/ignition/data', subPath: 'gateway' }],
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
      },
    ],
    volumes: [{ name: 'data', emptyDir: {} }],
  },
};

/** podIn returns a pod that requests an agent. */
function podIn(namespace: string, annotations: Readonly<Record<string, string>> = {}, spec: object = {}): Pod {
  const given = { inject: 'true', 'service-path': 'services/site', ...annotations };
  const prefixed = Object.entries(given).map(([name, value]) => [`ignition-sync.io/${name}`, value]);
  return {
    metadata: { namespace, name: c.uniqueName('site'), annotations: Object.fromEntries(prefixed) },
    spec: { containers: [], ...template.spec, ...spec },
  };
}

/** admitted returns a pod as the API server would store it. */
const admitted = (pod: Pod): Promise<Pod> => c.admin.create(Pod, pod, { dryRun: true });
const agentOf = ({ spec }: Pod) => spec?.initContainers?.find(({ name }) => name === AGENT_CONTAINER);
const reasonOf = ({ metadata }: Pod): string | undefined => metadata?.annotations?.['ignition-sync.io/not-injected'];

/** plantIn creates a namespace with an IgnitionSync. */
async function plantIn(changes: object = {}, labels: Readonly<Record<string, string>> = {}): Promise<string> {
  const namespace = await c.createNamespace();
  await c.admin.patch(Namespace, { name: namespace }, { type: 'merge', body: { metadata: { labels } } });
  await c.admin.create(IgnitionSync, { metadata: { namespace, name: 'plant' }, spec: minimal(changes) });
  return namespace;
}

it('scenario 20 leaves a pod alone that requests no agent', async () => {
  const namespace = await plantIn();
  for (const value of [undefined, 'false', 'TRUE']) {
    const annotations = { 'ignition-sync.io/cr-name': 'plant', ...(value && { 'ignition-sync.io/inject': value }) };
    const pod = await admitted({ ...template, metadata: { namespace, name: 'plain', annotations } });
    expect(agentOf(pod)).toBeUndefined();
    expect(pod.metadata?.annotations).toEqual(annotations);
  }
});

it('scenario 20 injects an agent into the pods of a StatefulSet, and again into none', async () => {
  const namespace = await plantIn();
  const { metadata, spec } = podIn(namespace);
  const labels = { app: 'site' };
  await c.admin.create(StatefulSet, {
    metadata: { namespace, name: 'site' },
    spec: {
      serviceName: 'site',
      selector: { matchLabels: labels },
      template: { metadata: { labels, annotations: metadata?.annotations }, spec },
    },
  });
  const pod = await c.until(Pod, { namespace, name: 'site-0' }, ({ status }) => status?.phase === 'Running');
  expect(pod.spec?.initContainers?.map(({ name, restartPolicy }) => [name, restartPolicy])).toEqual([
    [AGENT_CONTAINER, 'Always'],
  ]);
  expect(pod.metadata?.annotations).toMatchObject({
    'ignition-sync.io/cr-name': 'plant',
    'ignition-sync.io/injected': 'true',
  });
  expect(pod.metadata?.labels).toMatchObject({ 'ignition-sync.io/agent': 'true' });
  expect(agentOf(pod)?.volumeMounts?.[0]).toEqual({
    name: 'data',
    mountPath: '/usr/local/bin/ignition/data',
    subPath: 'gateway',
  });
  const copy = {
    metadata: { ...pod.metadata, name: 'copy', resourceVersion: undefined, uid: undefined },
    spec: pod.spec,
  };
  const again = await admitted({ ...copy, spec: { containers: [], ...pod.spec, nodeName: undefined } });
  expect(again.spec?.initContainers).toEqual(pod.spec?.initContainers);
  expect(again.spec?.volumes).toEqual(pod.spec?.volumes);
});

it('scenario 20 admits pods unchanged whose IgnitionSync is missing or ambiguous, with the reason', async () => {
  const namespace = await c.createNamespace();
  const none = await admitted(podIn(namespace));
  expect(reasonOf(none)).toMatch(/^there is no IgnitionSync in the namespace/);
  for (const name of ['plant', 'mill']) {
    await c.admin.create(IgnitionSync, { metadata: { namespace, name }, spec: minimal() });
  }
  const many = await admitted(podIn(namespace));
  expect(reasonOf(many)).toMatch(/^there are 2 IgnitionSyncs/);
  const missing = await admitted(podIn(namespace, { 'cr-name': 'mine' }));
  expect(reasonOf(missing)).toMatch(/^there is no IgnitionSync "mine"/);
  for (const pod of [none, many, missing]) expect(pod.spec?.initContainers).toBeUndefined();
  const named = await admitted(podIn(namespace, { 'cr-name': 'mill' }));
  expect(agentOf(named)?.args).toContain('--cr=mill');
});

it('scenario 20 injects into pods of a paused IgnitionSync and with an unknown profile', async () => {
  const namespace = await plantIn({ paused: true });
  expect(agentOf(await admitted(podIn(namespace, { 'sync-profile': 'unknown' })))).toBeDefined();
});

it('scenario 20 uses the image of the IgnitionSync', async () => {
  const namespace = await plantIn({ agent: { image: { repository: 'example.com/agent', tag: '2' } } });
  expect(agentOf(await admitted(podIn(namespace)))?.image).toBe('example.com/agent:2');
});

it.each([
  [
    'without a data volume',
    {},
    { volumes: [{ name: 'files', emptyDir: {} }], containers: [{ name: 'a', image: 'a' }] },
    'no data volume',
  ],
  ['with an unsafe service path', { 'service-path': '../other' }, {}, 'ignition-sync.io/service-path has a part'],
  ['that runs as root', {}, { securityContext: { runAsUser: 0 } }, 'the container "gateway" runs as root'],
])('scenario 20 denies a pod %s', async (_, annotations, spec, message) => {
  const namespace = await plantIn();
  await expect(admitted(podIn(namespace, annotations, spec))).rejects.toMatchObject({
    status: 403,
    message: expect.stringContaining(message),
  });
});

it('scenario 20 injects under pod security restricted', async () => {
  const labels = {
    'pod-security.kubernetes.io/enforce': 'restricted',
    'pod-security.kubernetes.io/enforce-version': 'latest',
  };
  const auth = { token: { secretRef: { name: 'git', key: 'token' } } };
  const namespace = await plantIn(
    { storage: {}, git: { ...minimal().git, auth, caSecretRef: { name: 'ca', key: 'ca.crt' } } },
    labels,
  );
  const pod = await admitted(podIn(namespace));
  // The embedded control plane stores the level without enforcing it.
  expect(agentOf(pod)?.securityContext).toEqual({
    runAsUser: 2003,
    runAsGroup: 2003,
    runAsNonRoot: true,
    readOnlyRootFilesystem: true,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  });
  const root = podIn(namespace, { inject: 'false' }, { securityContext: { runAsUser: 0 } });
  const refused = admitted(root).then(
    () => false,
    () => true,
  );
  expect(await refused).toBe(c.controlPlane.kind === 'kubernetes');
});

it('scenario 20 gives the agent a token of its own, in pods with and without another one', async () => {
  const namespace = await plantIn();
  const path = '/var/run/secrets/kubernetes.io/serviceaccount';
  for (const automountServiceAccountToken of [true, false]) {
    const pod = await admitted(podIn(namespace, {}, { automountServiceAccountToken }));
    const mounts = agentOf(pod)?.volumeMounts?.filter(({ mountPath }) => mountPath === path);
    expect(mounts?.map(({ name }) => name)).toEqual(['ignition-sync-token']);
    const others = pod.spec?.containers[0]?.volumeMounts?.filter(({ mountPath }) => mountPath === path);
    expect(others).toHaveLength(automountServiceAccountToken ? 1 : 0);
  }
});

it('scenario 20 renames volumes whose names are taken, and mounts no credentials for a public repository', async () => {
  const namespace = await plantIn();
  const volumes = [...(template.spec?.volumes ?? []), { name: 'ignition-sync-repo', emptyDir: {} }];
  const pod = await admitted(podIn(namespace, {}, { volumes, automountServiceAccountToken: false }));
  expect(pod.spec?.volumes?.map(({ name }) => name)).toEqual([
    'data',
    'ignition-sync-repo',
    'ignition-sync-repo-2',
    'ignition-sync-scratch',
    'ignition-sync-api-key',
    'ignition-sync-token',
    'ignition-sync-pod-info',
  ]);
});

it('scenario 20 injects only into labelled namespaces if the operator requires it', async () => {
  await using labelled = await cluster({
    operators: [webhooksOnly],
    config: { [OPERATOR.name]: { ...settings[OPERATOR.name], requireNamespaceLabel: true } },
    prefix: 'label',
  });
  const { namespace, admin } = labelled;
  await admin.create(IgnitionSync, { metadata: { namespace, name: 'plant' }, spec: minimal() });
  const create = () => admin.create(Pod, podIn(namespace), { dryRun: true });
  expect(agentOf(await create())).toBeUndefined();
  const body = { metadata: { labels: { 'ignition-sync.io/injection': 'enabled' } } };
  await admin.patch(Namespace, { name: namespace }, { type: 'merge', body });
  // API servers observe labels of namespaces with a delay.
  await expect.poll(async () => agentOf(await create()) !== undefined).toBe(true);
});

it('scenario 20 mounts no Secret of an IgnitionSync where authors are not reviewed', async () => {
  await using other = await cluster({ operators: [webhooksOnly], config: settings, prefix: 'unreviewed' });
  const { namespace, admin } = other;
  await admin.create(IgnitionSync, { metadata: { namespace, name: 'plant' }, spec: minimal() });
  const { items } = await admin.list(ValidatingWebhookConfiguration);
  const ours = items.filter(({ webhooks }) =>
    webhooks?.some(({ namespaceSelector }) => JSON.stringify(namespaceSelector).includes(namespace)),
  );
  for (const { metadata } of ours) await admin.delete(ValidatingWebhookConfiguration, { name: metadata?.name ?? '' });
  const create = () => admin.create(Pod, podIn(namespace), { dryRun: true });
  await expect.poll(async () => reasonOf(await create())).toContain('were not reviewed');
});

it('scenario 21 injects while the certificate of the webhook is replaced, without a restart', async () => {
  const namespace = await plantIn();
  const { items } = await c.admin.list(Secret, { namespace: c.managerNamespace });
  const key = keyOf(items.find(({ metadata }) => metadata?.name?.endsWith('-webhook-tls')) ?? {});
  const before = await c.admin.get(Secret, key);
  await c.admin.delete(Secret, key);
  const after = await c.until(Secret, key, ({ metadata }) => metadata?.uid !== before.metadata?.uid);
  expect(after.data).not.toEqual(before.data);
  for (let attempt = 0; attempt < 5; attempt++) expect(agentOf(await admitted(podIn(namespace)))).toBeDefined();
});
