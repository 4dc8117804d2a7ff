import { type Cluster, cluster, type OperatorsOptions, type RunningOperators } from '@bowline/control-plane/testing';
import { ConfigMap, type PolicyRule, Role, RoleBinding, ServiceAccount } from '@bowline/kubernetes';
import { findCondition } from '@bowline/runtime';
import { type Client, isForbidden, isInvalid } from '@bowline/runtime/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { refusalOf } from '../../../../test/support/refusal-of.ts';
import { ConfigMapSync } from '../api/config-map-sync.ts';
import { configMapSync } from '../operator.ts';
import type { SpecChange } from './scenario.test-support.ts';

// An installation without cluster-wide permissions: the operator works in two namespaces, with a Role in each of them.

interface Limited extends Cluster, RunningOperators {
  /** The other namespace that it works in, and one in which it does not. */
  readonly target: string;
  readonly outside: string;
}

async function limited(options: Partial<OperatorsOptions> = {}): Promise<Limited> {
  let target = '';
  const c = await cluster({
    operators: [configMapSync],
    prefix: 'limited',
    selectNamespaces: async ({ namespace, createNamespace }) => {
      target = await createNamespace('limited-target');
      return [namespace, target];
    },
    ...options,
  });
  const more = { target, outside: await c.createNamespace('limited-outside') };
  return Object.defineProperties({ ...c, ...more }, Object.getOwnPropertyDescriptors(c));
}

let c: Limited;
let user: string;
let author: Client;

beforeAll(async () => {
  c = await limited();
  user = c.uniqueName('author');
  author = await c.clientFor({ user });
  const subject = { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user };
  await grant(c.namespace, subject, [all('', 'configmaps'), all(ConfigMapSync.group, ConfigMapSync.plural)]);
  await grant(c.target, subject, [all('', 'configmaps')]);
  for (const namespace of [c.namespace, c.target]) {
    while (!(await author.canI({ verb: 'create', resource: 'configmaps', namespace })).allowed);
  }
});
afterAll(() => c[Symbol.asyncDispose]());

function all(group: string, resource: string): PolicyRule {
  const verbs = ['get', 'create', 'update', 'patch', 'delete'];
  return { apiGroups: [group], resources: [resource], verbs };
}

async function grant(
  namespace: string,
  subject: NonNullable<RoleBinding['subjects']>[number],
  rules: readonly PolicyRule[],
): Promise<void> {
  const metadata = { namespace, name: c.uniqueName('grant') };
  await c.admin.create(Role, { metadata, rules });
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: metadata.name };
  await c.admin.create(RoleBinding, { metadata, subjects: [subject], roleRef });
}

const source = ({ admin, namespace }: Limited, name: string) =>
  admin.create(ConfigMap, { metadata: { namespace, name }, data: { color: 'red' } });
const syncOf = ({ namespace, target }: Limited, name: string, spec: SpecChange = {}) =>
  ConfigMapSync.withDefaults({
    metadata: { namespace, name },
    spec: { sourceNamespace: namespace, configMapName: name, destinationNamespace: target, ...spec },
  });
const untilReason = (where: Limited, name: string, reason: string) =>
  where.until(ConfigMapSync, { name }, (sync) => findCondition(sync, 'Ready')?.reason === reason);

it('syncs between its namespaces, and sends no cluster-wide requests', async () => {
  await source(c, 'settings');
  await author.create(ConfigMapSync, syncOf(c, 'settings'));
  await untilReason(c, 'settings', 'AllComponentsReady');
  const copy = { namespace: c.target, name: 'settings' };
  await c.admin.patch(ConfigMap, copy, { type: 'merge', body: { data: { color: 'mine' } } });
  await c.until(ConfigMap, copy, ({ data }) => data?.color === 'red');
  await author.delete(ConfigMapSync, { namespace: c.namespace, name: 'settings' });
  await c.untilGone(ConfigMapSync, { name: 'settings' });
  expect(await c.admin.find(ConfigMap, copy)).toBeUndefined();
  const places = new Set(c.requests.filter((each) => / (configmaps|configmapsyncs|events) /.test(each)).map(placeOf));
  expect([...places].sort()).toEqual([c.namespace, c.target].sort());
  expect(c.requests.filter((each) => each.includes(' namespaces '))).toEqual([]);
});

/** Returns the namespace of a request in the form `verb resource namespace/name`. */
function placeOf(request: string): string {
  return request.split(' ')[2]?.split('/')[0] ?? '';
}

it('reviews authors in each namespace', async () => {
  const before = c.requests.length;
  await author.create(ConfigMapSync, syncOf(c, 'asked'));
  const reviews = c.requests.slice(before).filter((each) => each.includes('accessreviews'));
  expect(new Set(reviews)).toEqual(
    new Set([c.namespace, c.target].map((namespace) => `create localsubjectaccessreviews ${namespace}`)),
  );
  const other = await c.clientFor({ user: c.uniqueName('other') });
  const rules = [all(ConfigMapSync.group, ConfigMapSync.plural)];
  const subject = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:authenticated' };
  await grant(c.namespace, subject, rules);
  const question = { verb: 'create', group: ConfigMapSync.group, resource: ConfigMapSync.plural };
  while (!(await other.canI({ ...question, namespace: c.namespace })).allowed);
  const error = await refusalOf(other.create(ConfigMapSync, syncOf(c, 'stranger')));
  expect(isForbidden(error)).toBe(true);
  expect(error.message).toContain(`create configmaps in namespace ${c.target}`);
});

it('reviews accounts in each namespace', async () => {
  await source(c, 'account');
  const account = { namespace: c.namespace, name: 'syncer' };
  await c.admin.create(ServiceAccount, { metadata: account });
  for (const namespace of [c.namespace, c.target]) {
    await grant(namespace, { kind: 'ServiceAccount', ...account }, [all('', 'configmaps')]);
    const client = await c.clientFor({ serviceAccount: account });
    while (!(await client.canI({ verb: 'create', resource: 'configmaps', namespace })).allowed);
  }
  await c.admin.create(ConfigMapSync, syncOf(c, 'account', { serviceAccountName: 'syncer' }));
  const sync = await untilReason(c, 'account', 'AllComponentsReady');
  expect(findCondition(sync, 'Authorized')).toMatchObject({ status: 'True', reason: 'Granted' });
  expect(c.requests.filter((each) => each.includes(' subjectaccessreviews '))).toEqual([]);
});

const outOfReach: readonly (readonly [field: string, spec: (where: Limited) => SpecChange])[] = [
  ['spec.destinationSelector', () => ({ destinationSelector: {} })],
  ['spec.destinationNamespace', ({ outside }) => ({ destinationNamespace: outside })],
  ['spec.sourceNamespace', ({ outside }) => ({ sourceNamespace: outside })],
  ['spec.destinations[0].namespace', ({ outside }) => ({ destinations: [{ namespace: outside }] })],
];

it.each(outOfReach)('rejects %s outside of its namespaces', async (field, spec) => {
  const error = await refusalOf(c.admin.create(ConfigMapSync, syncOf(c, 'refused', spec(c))));
  expect(isInvalid(error)).toBe(true);
  expect(error.causes).toMatchObject([{ field, reason: 'FieldValueForbidden' }]);
});

it('reports the field of a namespace that it has no access to, if the webhook was bypassed', async () => {
  // Like objects that were created before the manager was limited.
  await using trusting = await limited({
    operators: [{ ...configMapSync, webhooks: [] }],
    config: { 'configmap-sync': { trustAllAuthors: true } },
  });
  for (const [index, [field, spec]] of outOfReach.entries()) {
    const name = `past-${index}`;
    await source(trusting, name);
    await trusting.admin.create(ConfigMapSync, syncOf(trusting, name, spec(trusting)));
    const sync = await untilReason(trusting, name, 'InvalidSpec');
    expect(findCondition(sync, 'Ready')?.message).toContain(`${field}: Forbidden: the manager `);
    expect(findCondition(sync, 'Stalled')?.status).toBe('True');
    for (const namespace of [trusting.target, trusting.outside]) {
      expect(await trusting.admin.find(ConfigMap, { namespace, name })).toBeUndefined();
    }
  }
});
