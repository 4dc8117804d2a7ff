import { ConfigMap, Namespace, resource } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { admit } from './admission-response.ts';
import { checkWebhooks, differsFrom, serverNames, webhookConfigurations } from './configurations.ts';
import { mutating, validating } from './declare.ts';

const Ship = resource({
  group: 'sea.example.com',
  version: 'v1',
  kind: 'Ship',
  plural: 'ships',
  scope: 'Namespaced',
});
const guard = validating(Ship, {
  name: 'guard',
  operations: ['CREATE', 'UPDATE'],
  subresources: ['status'],
  failurePolicy: 'Fail',
  matchConditions: [{ name: 'spec', expression: 'object.spec != oldObject.spec' }],
  namespaceSelector: { matchLabels: { sea: 'north' } },
}).handle(() => admit());
const label = mutating(ConfigMap, {
  name: 'label',
  operations: ['CREATE'],
  reinvocationPolicy: 'IfNeeded',
  path: '/mutate-v1-configmap',
  timeoutSeconds: 3,
}).handle(() => admit());
const cities = validating(Namespace, { name: 'cities', operations: ['DELETE'] }).handle(() => admit());
const base = {
  operator: 'sea',
  domain: 'bowline.dev',
  webhooks: [guard, label, cities],
  ownNamespace: 'sea-system',
  address: { service: { namespace: 'sea-system', name: 'sea-webhook' } },
};

it('renders every field that the API server would default, and excludes the operator namespace', () => {
  const { validating: rendered, mutating: changed } = webhookConfigurations(base);
  expect(rendered?.metadata).toEqual({
    name: 'bowline-sea',
    labels: { 'app.kubernetes.io/managed-by': 'bowline', 'webhook.bowline.dev/operator': 'sea' },
  });
  expect(rendered?.webhooks?.map(({ name }) => name)).toEqual(['cities.sea.bowline.dev', 'guard.sea.bowline.dev']);
  expect(rendered?.webhooks?.[1]).toEqual({
    name: 'guard.sea.bowline.dev',
    admissionReviewVersions: ['v1'],
    clientConfig: { service: { namespace: 'sea-system', name: 'sea-webhook', port: 443, path: '/sea/guard' } },
    rules: [
      {
        apiGroups: ['sea.example.com'],
        apiVersions: ['v1'],
        resources: ['ships', 'ships/status'],
        operations: ['CREATE', 'UPDATE'],
        scope: 'Namespaced',
      },
    ],
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    namespaceSelector: {
      matchLabels: { sea: 'north' },
      matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['sea-system'] }],
    },
    objectSelector: {},
    sideEffects: 'None',
    timeoutSeconds: 10,
    matchConditions: [{ name: 'spec', expression: 'object.spec != oldObject.spec' }],
  });
  expect(rendered?.webhooks?.[0]?.rules?.[0]?.scope).toBe('Cluster');
  expect(changed?.webhooks).toHaveLength(1);
  expect(changed?.webhooks?.[0]).toMatchObject({
    reinvocationPolicy: 'IfNeeded',
    timeoutSeconds: 3,
    clientConfig: { service: { path: '/mutate-v1-configmap' } },
  });
});

it('renders the same objects regardless of the order of declarations', () => {
  const again = webhookConfigurations({ ...base, webhooks: [cities, label, guard] });
  expect(JSON.stringify(again)).toBe(JSON.stringify(webhookConfigurations(base)));
});

it('renders a loopback address, a name and the namespaces of a test', () => {
  const { validating: rendered, mutating: changed } = webhookConfigurations({
    ...base,
    webhooks: [guard],
    address: { url: 'https://127.0.0.1:9443' },
    name: 'test-1',
    onlyNamespaces: ['b', 'a'],
  });
  expect(changed).toBeUndefined();
  expect(rendered?.metadata?.name).toBe('test-1');
  expect(rendered?.webhooks?.[0]?.clientConfig).toEqual({ url: 'https://127.0.0.1:9443/sea/guard' });
  expect(rendered?.webhooks?.[0]?.namespaceSelector?.matchExpressions).toEqual([
    { key: 'kubernetes.io/metadata.name', operator: 'In', values: ['a', 'b'] },
    { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['sea-system'] },
  ]);
});

it('rejects Fail on kinds of others, and two webhooks at one path', () => {
  const refused = (options: Partial<Parameters<typeof checkWebhooks>[0]>) => () =>
    checkWebhooks({ ...base, ...options });
  expect(refused({ ownKinds: [ConfigMap] })).toThrow('"guard" has failurePolicy Fail on Ship, which is not a kind of');
  expect(refused({ ownKinds: [Ship] })).not.toThrow();
  expect(refused({ webhooks: [guard, guard] })).toThrow('the name "guard" is used twice');
  const other = mutating(Ship, { name: 'other', operations: ['CREATE'], path: '/sea/guard' }).handle(() => admit());
  expect(refused({ webhooks: [guard, other] })).toThrow('"guard" and "other" are both at /sea/guard');
});

it('rejects a webhook whose namespaces depend on a configuration that was not provided', () => {
  const limited = mutating(ConfigMap, {
    name: 'limited',
    operations: ['CREATE'],
    namespaceSelector: (config: { readonly sea: string }) => ({ matchLabels: { sea: config.sea } }),
  }).handle(() => admit());
  expect(() => webhookConfigurations({ ...base, webhooks: [limited] })).toThrow(
    expect.objectContaining({ code: 'BOWLINE_OPERATOR_UNCONFIGURED', message: expect.stringContaining('limited') }),
  );
});

it('returns the names by which the API server calls', () => {
  expect(serverNames(base.address)).toEqual(['sea-webhook.sea-system.svc']);
  expect(serverNames({ url: 'https://127.0.0.1:1' })).toEqual(['127.0.0.1']);
  expect(serverNames({ url: 'https://[::1]:1' })).toEqual(['::1']);
});

it('detects changes in a stored configuration', () => {
  const { validating: wanted = {} } = webhookConfigurations(base);
  expect(differsFrom(structuredClone(wanted), wanted)).toBe(false);
  expect(differsFrom({ ...wanted, webhooks: wanted.webhooks?.slice(1) }, wanted)).toBe(true);
});
