import { ConfigMap, keyOf, Role, RoleBinding, ServiceAccount } from '@bowline/kubernetes';
import { findCondition } from '@bowline/runtime';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ConfigMapSync } from '../api/config-map-sync.ts';
import { type Scenario, startScenario } from './scenario.test-support.ts';

/** How long the known rights of an account are cached. */
const REVIEW_CACHE_MS = 30_000;

let c: Scenario;
beforeAll(async () => {
  c = await startScenario();
});
afterAll(() => c[Symbol.asyncDispose]());

async function account(name: string) {
  await c.admin.create(ServiceAccount, { metadata: c.from(name) });
  return { serviceAccountName: name };
}

/** grant grants an account verbs on the ConfigMaps of a namespace, and waits until the API server honors them. */
async function grant(name: string, namespace: string, verbs: readonly string[]): Promise<void> {
  const metadata = { namespace, name: c.uniqueName('grant') };
  await c.admin.create(Role, { metadata, rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: [...verbs] }] });
  await c.admin.create(RoleBinding, {
    metadata,
    subjects: [{ kind: 'ServiceAccount', ...c.from(name) }],
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: metadata.name },
  });
  const client = await c.clientFor({ serviceAccount: c.from(name) });
  for (const verb of verbs) {
    while (!(await client.canI({ verb, resource: 'configmaps', namespace })).allowed);
  }
}

/**
 * revoke revokes the rights of an account in a namespace, and waits until the API server honors that; `verb` is one of
 * those rights.
 */
async function revoke(name: string, namespace: string, verb: string): Promise<void> {
  const { items } = await c.admin.list(RoleBinding, { namespace });
  const bindings = items.filter(({ subjects }) => subjects?.some((subject) => subject.name === name));
  for (const binding of bindings) await c.admin.delete(RoleBinding, keyOf(binding));
  const client = await c.clientFor({ serviceAccount: c.from(name) });
  while ((await client.canI({ verb, resource: 'configmaps', namespace })).allowed);
}

it('scenario 14 writes nothing for an account without permissions, does not block others, and continues when they are granted', async () => {
  await c.source('poor');
  await c.source('rich');
  await c.sync('poor', await account('poor'));
  const refused = await c.untilReady('poor', 'InsufficientPermissions');
  const authorized = findCondition(refused, 'Authorized');
  expect(authorized).toMatchObject({ status: 'False', reason: 'InsufficientPermissions' });
  expect(authorized?.message).toContain(`the ServiceAccount ${c.namespace}/poor lacks permissions: `);
  for (const right of [
    `get configmap poor in namespace ${c.namespace}`,
    `create configmaps in namespace ${c.target}`,
    `update configmap poor in namespace ${c.target}`,
    `delete configmap poor in namespace ${c.target}`,
  ]) {
    expect(authorized?.message).toContain(right);
  }
  expect(authorized?.message).toContain('grant them with RBAC');
  await c.untilEvent('poor', 'SyncFailed');
  expect(await c.admin.find(ConfigMap, c.to('poor'))).toBeUndefined();
  expect(c.requests).not.toContain(`get configmaps ${c.namespace}/poor`);

  await c.sync('rich');
  const rich = await c.untilReady('rich');
  expect(findCondition(rich, 'Authorized')).toBeUndefined();

  await grant('poor', c.namespace, ['get']);
  await grant('poor', c.target, ['create', 'update', 'delete']);
  await c.clock.advance(REVIEW_CACHE_MS);
  const healed = await c.untilReady('poor');
  expect(findCondition(healed, 'Authorized')).toMatchObject({ status: 'True', reason: 'Granted' });
  expect((await c.admin.get(ConfigMap, c.to('poor'))).data).toEqual({ color: 'red' });
});

it('scenario 14 stops when a permission is revoked, and keeps the copy', async () => {
  await c.source('robbed');
  const spec = await account('robbed');
  await grant('robbed', c.namespace, ['get']);
  await grant('robbed', c.target, ['create', 'update', 'delete']);
  await c.sync('robbed', spec);
  await c.untilReady('robbed');
  const copy = await c.admin.get(ConfigMap, c.to('robbed'));
  await revoke('robbed', c.namespace, 'get');
  await c.clock.advance(REVIEW_CACHE_MS);
  await c.edit(c.from('robbed'), { color: 'secret' });
  const refused = await c.untilReady('robbed', 'InsufficientPermissions');
  expect(findCondition(refused, 'Authorized')?.message).toContain(`get configmap robbed in namespace ${c.namespace}`);
  expect(await c.admin.get(ConfigMap, c.to('robbed'))).toEqual(copy);
});

it.each(['Delete', 'Orphan'] as const)(
  'scenario 14 keeps copies that the account may no longer change when the ConfigMapSync is deleted: %s',
  async (deletionPolicy) => {
    const name = `leaving-${deletionPolicy.toLowerCase()}`;
    const other = { namespace: await c.createNamespace(), name };
    await c.source(name);
    const spec = await account(name);
    await grant(name, c.namespace, ['get']);
    for (const namespace of [c.target, other.namespace]) await grant(name, namespace, ['create', 'update', 'delete']);
    await c.sync(name, { ...spec, deletionPolicy, destinations: [{ namespace: c.target }, other] });
    await c.untilReady(name);
    const copy = await c.admin.get(ConfigMap, other);
    await revoke(name, other.namespace, 'update');
    // Its remaining rights count, not whether it still exists.
    await c.admin.delete(ServiceAccount, c.from(name));
    await c.clock.advance(REVIEW_CACHE_MS);
    await c.admin.delete(ConfigMapSync, c.from(name));
    await c.untilGone(ConfigMapSync, c.from(name));
    expect(await c.admin.get(ConfigMap, other)).toEqual(copy);
    expect((await c.untilEvent(name, 'DestinationLeft')).note).toBe(
      `kept ${other.namespace}/${name}, because the ServiceAccount ${c.namespace}/${name} lacks the permission to release it; delete it manually if no longer needed`,
    );
    const released = await c.admin.find(ConfigMap, c.to(name));
    if (deletionPolicy === 'Delete') expect(released).toBeUndefined();
    else expect(released?.metadata?.labels).toBeUndefined();
  },
);

it('scenario 14 reports a missing account, and continues when it is created', async () => {
  await c.source('nobody');
  await c.sync('nobody', { serviceAccountName: 'nobody' });
  const refused = await c.untilReady('nobody', 'ServiceAccountNotFound');
  expect(findCondition(refused, 'Authorized')).toMatchObject({ status: 'False', reason: 'ServiceAccountNotFound' });
  expect(findCondition(refused, 'Authorized')?.message).toContain(
    `the ServiceAccount ${c.namespace}/nobody does not exist; create it, or correct spec.serviceAccountName`,
  );
  await account('nobody');
  await grant('nobody', c.namespace, ['get']);
  await grant('nobody', c.target, ['create', 'update', 'delete']);
  await c.clock.advance(REVIEW_CACHE_MS);
  await c.untilReady('nobody');
});

it('scenario 14 reviews missing permissions again every 30 s, and writes nothing meanwhile', async () => {
  await c.source('waiting');
  await c.sync('waiting', await account('waiting'));
  const { metadata } = await c.untilReady('waiting', 'InsufficientPermissions');
  await c.untilEvent('waiting', 'SyncFailed');
  // When it reviews again for the first time, all earlier events have been sent.
  await c.advanceTime(30_000);
  const since = Date.now();
  const before = c.requests.length;
  await c.advanceTime(300_000);
  const isQuestion = (request: string) => request === `get serviceaccounts ${c.namespace}/waiting`;
  expect(c.requests.slice(before).filter(isQuestion)).toHaveLength(10);
  expect((await c.writes(since)).filter((write) => write.includes('waiting'))).toEqual([]);
  const after = await c.admin.get(ConfigMapSync, c.from('waiting'));
  expect(after.metadata?.resourceVersion).toBe(metadata?.resourceVersion);
});
