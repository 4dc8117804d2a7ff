import {
  DaemonSet,
  type KubernetesObject,
  NetworkPolicy,
  type Resource,
  RoleBinding,
  Secret,
  ServiceAccount,
} from '@bowline/kubernetes';
import { findCondition } from '@bowline/runtime';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { HSMDevice } from '../api/hsm-device.ts';
import { HSMPool } from '../api/hsm-pool.ts';
import { type HsmCluster, hsmCluster } from '../testing/hsm-cluster.test-support.ts';

let c: HsmCluster;
beforeAll(async () => {
  c = await hsmCluster({ nodes: 1 });
});
afterAll(() => c[Symbol.asyncDispose]());

/** The kinds and names of everything that is created for an HSMDevice. */
const childrenOf = (device: string): readonly (readonly [Resource<KubernetesObject>, string])[] => [
  [HSMPool, `${device}-pool`],
  [DaemonSet, `${device}-discovery`],
  [ServiceAccount, `${device}-discovery`],
  [ServiceAccount, `${device}-agent`],
  [RoleBinding, `${device}-discovery`],
  [NetworkPolicy, `${device}-agent`],
  [Secret, `${device}-agent-tls`],
];

async function createWithChildren(name: string): Promise<void> {
  await c.createDevice(name);
  for (const [kind, child] of childrenOf(name)) await c.until(kind, { name: child }, () => true);
  await c.untilPool(name, ({ phase }) => phase === 'Pending');
}

it('scenario 05 an HSMDevice is deleted with everything that was created for it, and nothing else', async () => {
  const { namespace, admin } = c;
  await createWithChildren('kept');
  await createWithChildren('removed');
  const delivered = { namespace, name: 'database' };
  await admin.create(Secret, { metadata: delivered, data: { password: 'eA==' } });
  await admin.delete(HSMDevice, { namespace, name: 'removed' });
  for (const [kind, name] of childrenOf('removed')) await c.untilGone(kind, { name });
  for (const [kind, name] of childrenOf('kept'))
    expect((await admin.get(kind, { namespace, name })).metadata?.deletionTimestamp).toBeUndefined();
  await admin.get(Secret, delivered);
});

it('scenario 05 an HSMDevice that is deleted with --cascade=orphan leaves everything', async () => {
  const { namespace, admin } = c;
  await createWithChildren('orphan');
  await admin.delete(HSMDevice, { namespace, name: 'orphan' }, { propagationPolicy: 'Orphan' });
  await c.untilGone(HSMDevice, { name: 'orphan' });
  for (const [kind, name] of childrenOf('orphan')) {
    const { metadata } = await admin.get(kind, { namespace, name });
    expect([name, metadata?.ownerReferences ?? [], metadata?.deletionTimestamp]).toEqual([name, [], undefined]);
  }
  const pool = await c.untilPool('orphan', ({ phase }) => phase === 'Error');
  expect(findCondition(pool, 'Ready')?.message).toContain('orphan');
});

it('scenario 05 an HSMDevice that is created again uses the pool that an earlier one left, and reports the rest', async () => {
  const { namespace, admin } = c;
  await createWithChildren('again');
  await admin.delete(HSMDevice, { namespace, name: 'again' }, { propagationPolicy: 'Orphan' });
  await c.untilGone(HSMDevice, { name: 'again' });
  await c.createDevice('again');
  const pool = await c.untilPool('again', (_, each) => findCondition(each, 'ForeignObject') !== undefined);
  expect(pool.status?.phase).toBe('Pending');
  expect(findCondition(pool, 'ForeignObject')?.message).toContain('again-discovery');
  expect((await admin.get(DaemonSet, { namespace, name: 'again-discovery' })).metadata?.generation).toBe(1);
});

it('scenario 05 objects of others with our names stay as they are, which the HSMDevice and its pool report', async () => {
  const { namespace, admin } = c;
  const foreign = async (kind: Resource<KubernetesObject>, object: KubernetesObject): Promise<KubernetesObject> =>
    await admin.create(kind, object);
  const account = await foreign(ServiceAccount, { metadata: { namespace, name: 'taken-discovery' } });
  const secret = await foreign(Secret, { metadata: { namespace, name: 'taken-agent-tls' } });
  await c.createDevice('taken');
  const events = [
    await c.untilEvent('taken', 'ForeignObject', 'taken-discovery'),
    await c.untilEvent('taken', 'ForeignObject'),
  ];
  expect(events[0]).toContain('ServiceAccount');
  const pool = await c.untilPool('taken', (_, each) => findCondition(each, 'ForeignObject') !== undefined);
  const condition = findCondition(pool, 'ForeignObject');
  expect(condition).toMatchObject({ status: 'True', reason: 'ForeignObject' });
  for (const name of ['taken-discovery', 'taken-agent-tls']) expect(condition?.message).toContain(name);
  // The others are created.
  await c.until(DaemonSet, { name: 'taken-discovery' }, () => true);
  await c.until(ServiceAccount, { name: 'taken-agent' }, () => true);
  for (const [kind, before] of [
    [ServiceAccount, account],
    [Secret, secret],
  ] as const) {
    const after = await admin.get<KubernetesObject>(kind, { namespace, name: before.metadata?.name ?? '' });
    expect(after.metadata?.resourceVersion).toBe(before.metadata?.resourceVersion);
  }

  await admin.delete(HSMDevice, { namespace, name: 'taken' });
  await c.untilGone(HSMPool, { name: 'taken-pool' });
  await admin.get(ServiceAccount, { namespace, name: 'taken-discovery' });
  await admin.get(Secret, { namespace, name: 'taken-agent-tls' });
});

it('scenario 05 the problem is no longer reported once the other object is removed', async () => {
  const { namespace, admin } = c;
  await admin.create(ServiceAccount, { metadata: { namespace, name: 'freed-discovery' } });
  await c.createDevice('freed');
  await c.untilPool('freed', (_, pool) => findCondition(pool, 'ForeignObject') !== undefined);
  await admin.delete(ServiceAccount, { namespace, name: 'freed-discovery' });
  // Nothing tells the operator that an object of others is gone; it tries again later.
  await c.idle();
  await c.advanceTime(60_000);
  await c.until(ServiceAccount, { name: 'freed-discovery' }, ({ metadata }) =>
    Boolean(metadata?.ownerReferences?.some(({ name }) => name === 'freed')),
  );
  await c.untilPool('freed', (_, pool) => findCondition(pool, 'ForeignObject') === undefined);
});

it('scenario 05 a pool that a user created is used as it is', async () => {
  const { namespace, admin } = c;
  const key = { namespace, name: 'hand-made-pool' };
  await admin.create(HSMPool, { metadata: key, spec: { hsmDeviceRef: 'hand-made', gracePeriod: '9m' } });
  await c.createDevice('hand-made', { gracePeriod: '2m' });
  await c.report(await c.discoveryPod('hand-made', c.nodes[0] ?? ''), ['1']);
  const pool = await c.untilPool('hand-made', ({ phase }) => phase === 'Ready');
  expect([pool.spec.gracePeriod, pool.metadata?.ownerReferences ?? []]).toEqual(['9m', []]);
  expect(findCondition(pool, 'ForeignObject')).toBeUndefined();
  await admin.delete(HSMDevice, { namespace, name: 'hand-made' });
  await c.untilGone(DaemonSet, { name: 'hand-made-discovery' });
  expect((await admin.get(HSMPool, key)).metadata?.deletionTimestamp).toBeUndefined();
});

it('reports a DaemonSet with another selector, and replaces it once it is deleted', async () => {
  const { namespace, admin } = c;
  await createWithChildren('differs');
  const key = { namespace, name: 'differs-discovery' };
  const { metadata, spec } = await admin.get(DaemonSet, key);
  await c.stop();
  await admin.delete(DaemonSet, key);
  await c.untilGone(DaemonSet, key);
  const { ownerReferences = [], annotations = {} } = metadata ?? {};
  const matchLabels = { app: 'older' };
  const template = { ...spec?.template, metadata: { labels: matchLabels } };
  await admin.create(DaemonSet, {
    // Without our labels: no event tells the operator that it is deleted.
    metadata: { ...key, labels: matchLabels, ownerReferences, annotations },
    spec: { ...spec, selector: { matchLabels }, template },
  });
  await c.restart();
  expect(await c.untilEvent('differs', 'SelectorConflict')).toContain('delete it with its pods');
  const problem = (pool: HSMPool): string => findCondition(pool, 'ForeignObject')?.message ?? '';
  await c.untilPool('differs', (_, pool) => problem(pool).includes('another selector'));
  await admin.delete(DaemonSet, key);
  await c.untilGone(DaemonSet, key);
  await c.advanceTime(60_000);
  await c.until(DaemonSet, key, ({ spec: next }) => next?.selector.matchLabels?.app === undefined);
  await c.untilPool('differs', (_, pool) => problem(pool) === '');
});
