import { Pod } from '@bowline/kubernetes';
import { applyDefaults } from '@bowline/machinery/schema';
import { allow, defineOperator } from '@bowline/runtime';
import { webhookConfigurations, withConfig } from '@bowline/runtime/install';
import { given, testWebhook } from '@bowline/runtime/testing';
import { expect, it } from 'vitest';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { OPERATOR } from '../api/names.ts';
import { minimal } from '../api/specs.test-support.ts';
import { type Config, config } from '../config.ts';
import { type InjectDeps, inject } from './inject.ts';

const defaults = applyDefaults({}, config.json) as Config;

const operator = defineOperator({
  ...OPERATOR,
  webhooks: [inject],
  config,
  setup: ({ config: parsed, namespace }): InjectDeps => ({
    config: parsed,
    ownNamespace: namespace,
    agentImage: undefined,
    metrics: { injected: () => undefined },
  }),
});

/** configured returns the webhook as it is installed. */
async function configured(settings: object) {
  const { webhooks } = await withConfig(operator, settings);
  const address = { service: { namespace: 'own', name: 'ignition-sync-webhook' } };
  const { mutating } = webhookConfigurations({
    ...OPERATOR,
    operator: OPERATOR.name,
    webhooks,
    ownNamespace: 'own',
    address,
  });
  return mutating?.webhooks?.[0];
}

it('is called for new pods that request an agent, never depends on the operator, and may be called again', async () => {
  expect(await configured({})).toMatchObject({
    name: 'inject.ignition-sync.bowline.dev',
    clientConfig: { service: { path: '/mutate-v1-pod' } },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['CREATE'], scope: 'Namespaced' }],
    matchConditions: [{ name: 'requests-agent', expression: expect.stringContaining("'ignition-sync.io/inject'") }],
    failurePolicy: 'Ignore',
    reinvocationPolicy: 'IfNeeded',
    sideEffects: 'None',
    timeoutSeconds: 10,
  });
});

const excluded = [
  { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['kube-system', 'kube-node-lease'] },
  { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['own'] },
];

it('is never called in namespaces of the control plane and of the manager, and on request only in labelled ones', async () => {
  expect((await configured({}))?.namespaceSelector).toEqual({ matchExpressions: excluded });
  expect((await configured({ requireNamespaceLabel: true }))?.namespaceSelector).toEqual({
    matchExpressions: excluded,
    matchLabels: { 'ignition-sync.io/injection': 'enabled' },
  });
});

const sync = given(IgnitionSync, { metadata: { namespace: 'plant', name: 'plant' }, spec: minimal() });
const pod: Pod = {
  metadata: { namespace: 'plant', name: 'site-0', annotations: { 'ignition-sync.io/inject': 'true' } },
  spec: {
    containers: [{ name: 'gateway', image: 'ignition', volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
    volumes: [{ name: 'data', emptyDir: {} }],
  },
};

/** webhookWith returns the webhook with dependencies that count results. */
async function webhookWith(changes: Partial<InjectDeps> = {}, objects = [sync]) {
  const results: string[] = [];
  const deps: InjectDeps = {
    config: { ...defaults, trustAllAuthors: true },
    ownNamespace: 'own',
    agentImage: 'example.com/bowline:1',
    metrics: { injected: (result) => results.push(result) },
    ...changes,
  };
  return {
    webhook: await testWebhook(Pod, inject, { deps, objects, permissions: [allow(['list'], IgnitionSync)] }),
    results,
  };
}

it('injects an agent, once, and counts the results', async () => {
  const { webhook, results } = await webhookWith();
  await using _ = webhook;
  const first = await webhook.create(pod);
  expect(first).toMatchObject({ allowed: true, warnings: [] });
  expect(first.object?.spec?.initContainers?.map(({ name }) => name)).toEqual(['ignition-sync-agent']);
  expect(await webhook.create(first.object ?? pod)).toMatchObject({ allowed: true, patch: [] });
  await webhook.create(pod, { dryRun: true });
  expect(results).toEqual(['injected', 'unchanged']);
});

it('warns about a pod that it admits without an agent', async () => {
  const elsewhere = given(IgnitionSync, { metadata: { namespace: 'mill', name: 'plant' }, spec: minimal() });
  const { webhook, results } = await webhookWith({}, [elsewhere]);
  await using _ = webhook;
  const { allowed, warnings, object } = await webhook.create(pod);
  expect(allowed).toBe(true);
  expect(warnings).toEqual([
    expect.stringMatching(/^no agent was injected: there is no IgnitionSync in the namespace/),
  ]);
  expect(object?.metadata?.annotations).toHaveProperty('ignition-sync.io/not-injected');
  expect(results).toEqual(['not-injected']);
});

it('denies a faulty pod with the reason', async () => {
  const { webhook, results } = await webhookWith();
  await using _ = webhook;
  const faulty = { ...pod, spec: { containers: [{ name: 'gateway', image: 'ignition' }] } };
  expect(await webhook.create(faulty)).toMatchObject({
    allowed: false,
    code: 403,
    message: expect.stringContaining('the pod has no data volume'),
  });
  expect(results).toEqual(['denied']);
});

it('mounts no Secret of an IgnitionSync whose author was not reviewed', async () => {
  const { webhook } = await webhookWith({ config: defaults });
  await using _ = webhook;
  const { object } = await webhook.create(pod);
  expect(object?.spec).toEqual(pod.spec);
  expect(object?.metadata?.annotations?.['ignition-sync.io/not-injected']).toContain('were not reviewed');
});
