import { type Cluster, cluster } from '@bowline/control-plane/testing';
import { ConfigMap, type KubernetesObject, keyOf } from '@bowline/kubernetes';
import { type Clock, systemClock, VirtualClock } from '@bowline/machinery';
import { describe, expect, test } from 'vitest';
import { type CleanupOptions, type CleanupTier, cleanUpTiers, type Leftover } from './cleanup-tiers.ts';
import { type Deletion, deletionOf } from './deletion.ts';
import { addFinalizer, removeFinalizer } from './finalizers.ts';
import { ObservedClient } from './observed-client.test-support.ts';
import { release } from './release.ts';
import { createWriter } from './writer.ts';

const MANAGER = 'bowline-test-deletion';
const FINALIZER = 'test.bowline.dev/cleanup';
const OTHER = 'test.bowline.dev/other';
const options = { fieldManager: MANAGER };

function create(c: Cluster, name: string, metadata: KubernetesObject['metadata'] = {}): Promise<ConfigMap> {
  return c.admin.create(ConfigMap, { metadata: { ...metadata, namespace: c.namespace, name } });
}

describe('finalizers', () => {
  test('are added once, keep those that others add meanwhile, and are removed individually', async () => {
    await using c = await cluster();
    const client = new ObservedClient(c.admin);
    const object = await create(c, 'a');
    const key = keyOf(object);
    const theirs = { type: 'merge', body: { metadata: { finalizers: [OTHER] } } } as const;
    client.before('patch', () => c.admin.patch(ConfigMap, key, theirs));
    const guarded = await addFinalizer(client, ConfigMap, object, FINALIZER, options);
    expect(guarded?.metadata?.finalizers).toEqual([OTHER, FINALIZER]);
    expect(client.verbs()).toBe('merge find merge');
    await addFinalizer(client, ConfigMap, guarded ?? object, FINALIZER, options);
    expect(client.verbs()).toBe('');

    await c.admin.delete(ConfigMap, key);
    const freed = await removeFinalizer(client, ConfigMap, guarded ?? object, FINALIZER, options);
    expect(freed?.metadata?.finalizers).toEqual([OTHER]);
    expect(
      await c.admin.patch(ConfigMap, key, { type: 'merge', body: { metadata: { finalizers: [] } } }),
    ).toBeDefined();
    expect(await removeFinalizer(client, ConfigMap, guarded ?? object, FINALIZER, options)).toBeUndefined();
  });

  test('are never added to an object that is being deleted, even when the cache is outdated', async () => {
    await using c = await cluster();
    const client = new ObservedClient(c.admin);
    const object = await create(c, 'a', { finalizers: [OTHER] });
    await c.admin.delete(ConfigMap, keyOf(object));
    const live = await addFinalizer(client, ConfigMap, object, FINALIZER, options);
    expect(live?.metadata).toMatchObject({ finalizers: [OTHER] });
    expect(live?.metadata?.deletionTimestamp).toBeDefined();
    expect(client.verbs()).toBe('merge find');
    await c.admin.patch(ConfigMap, keyOf(object), { type: 'merge', body: { metadata: { finalizers: [] } } });
  });

  test('are not added to an object that replaced the intended one', async () => {
    await using c = await cluster();
    const object = await create(c, 'a');
    await c.admin.delete(ConfigMap, keyOf(object));
    const next = await create(c, 'a');
    expect(await addFinalizer(c.admin, ConfigMap, object, FINALIZER, options)).toBeUndefined();
    expect((await c.admin.get(ConfigMap, keyOf(next))).metadata?.finalizers).toBeUndefined();
  });

  test('indicate how an object is being deleted', async () => {
    await using c = await cluster();
    for (const [policy, mode] of [
      ['Foreground', 'foreground'],
      ['Orphan', 'orphan'],
      ['Background', 'background'],
    ] as const) {
      const object = await create(c, mode, { finalizers: [OTHER] });
      expect(deletionOf(object)).toBeUndefined();
      const answer = await c.admin.delete(ConfigMap, keyOf(object), { propagationPolicy: policy });
      expect(deletionOf(answer as ConfigMap)?.mode).toBe(mode);
      await c.admin.patch(ConfigMap, keyOf(object), { type: 'merge', body: { metadata: { finalizers: [] } } });
    }
  });
});

describe('cleanUpTiers', () => {
  const labels = { 'test.bowline.dev/of': 'parent' };

  const background: Deletion = { at: 0, mode: 'background' };

  /** step runs one reconcile of a process that remembers nothing. */
  function step(
    c: Cluster,
    clock: Clock,
    client = new ObservedClient(c.admin),
    more: Partial<CleanupTier> = {},
    how: Partial<CleanupOptions> = {},
  ) {
    const writer = createWriter({ client, fieldManager: MANAGER });
    const tier = (name: string): CleanupTier => ({
      name,
      async find() {
        const labelSelector = `test.bowline.dev/tier=${name}`;
        const { items } = await c.admin.list(ConfigMap, { namespace: c.namespace, labelSelector });
        return items.map((object): Leftover => ({ resource: ConfigMap, object }));
      },
      ...more,
    });
    return cleanUpTiers({ live: client, clock, fieldManager: MANAGER }, [tier('first'), tier('second')], {
      deletion: background,
      remove: ({ resource, object }, given) =>
        writer.remove(resource, keyOf(object), { ...given, labels, uid: object.metadata?.uid }),
      ...how,
    });
  }

  function child(c: Cluster, name: string, tier: string, finalizers: string[] = []): Promise<ConfigMap> {
    return create(c, name, { labels: { ...labels, 'test.bowline.dev/tier': tier }, finalizers });
  }

  const free = (c: Cluster, name: string): Promise<ConfigMap> =>
    c.admin.patch(
      ConfigMap,
      { namespace: c.namespace, name },
      { type: 'merge', body: { metadata: { finalizers: [] } } },
    );

  test('goes tier by tier, based on the state of the cluster, and does not touch foreign objects', async () => {
    await using c = await cluster();
    await child(c, 'a', 'first', [OTHER]);
    await child(c, 'b', 'first');
    await child(c, 'c', 'second', [OTHER]);
    await create(c, 'foreign', { labels: { 'test.bowline.dev/tier': 'second' } });
    const first = await step(c, systemClock);
    expect(first).toMatchObject({
      isDone: false,
      tier: 'first',
      waiting: [{ key: { name: 'a' }, finalizers: [OTHER] }],
    });
    expect(await c.admin.find(ConfigMap, { namespace: c.namespace, name: 'b' })).toBeUndefined();
    expect(
      (await c.admin.get(ConfigMap, { namespace: c.namespace, name: 'c' })).metadata?.deletionTimestamp,
    ).toBeUndefined();
    expect(await step(c, systemClock)).toMatchObject({ isDone: false, tier: 'first' });
    await free(c, 'a');
    expect(await step(c, systemClock)).toMatchObject({
      isDone: false,
      tier: 'second',
      waiting: [{ key: { name: 'c' } }],
    });
    await free(c, 'c');
    expect(await step(c, systemClock)).toEqual({ isDone: true, waiting: [], forced: [] });
    expect(await c.admin.find(ConfigMap, { namespace: c.namespace, name: 'foreign' })).toBeDefined();
  });

  test('counts the time from the deletion, also across restarts, and forces only our own finalizer', async () => {
    await using c = await cluster();
    const object = await child(c, 'a', 'first', [FINALIZER, OTHER]);
    await c.admin.delete(ConfigMap, keyOf(object));
    const { metadata } = await c.admin.get(ConfigMap, keyOf(object));
    const deletedAt = Date.parse(metadata?.deletionTimestamp ?? '');
    const at = (seconds: number): Clock => new VirtualClock({ startMs: deletedAt + seconds * 1000 });
    const forced = { forcedFinalizer: FINALIZER };
    expect(await step(c, at(30), undefined, forced)).toMatchObject({
      waiting: [{ deadline: deletedAt + 30_000, isOverdue: false }],
      forced: [],
      requeueAfterMs: 1,
    });
    const client = new ObservedClient(c.admin);
    expect(await step(c, at(31), client)).toMatchObject({ waiting: [{ isOverdue: true }], forced: [] });
    expect(client.verbs()).toBe('find');
    expect(await step(c, at(31), client, forced)).toMatchObject({
      waiting: [{ isOverdue: true, finalizers: [OTHER] }],
      forced: [{ apiVersion: 'v1', kind: 'ConfigMap', key: keyOf(object), finalizer: FINALIZER }],
      requeueAfterMs: 2_000,
    });
    expect(await step(c, at(31), client, forced)).toMatchObject({ waiting: [{ finalizers: [OTHER] }], forced: [] });
    await free(c, 'a');
  });

  test('returns the finalizers that it removed by force, also of objects that are gone with them', async () => {
    await using c = await cluster();
    for (const [name, tier] of [
      ['b', 'first'],
      ['a', 'first'],
      ['c', 'second'],
    ] as const) {
      const object = await child(c, name, tier, [FINALIZER]);
      await c.admin.delete(ConfigMap, keyOf(object));
    }
    const later = new VirtualClock({ startMs: Date.now() + 3_600_000 });
    const { isDone, waiting, forced } = await step(c, later, undefined, { forcedFinalizer: FINALIZER });
    expect({ isDone, waiting }).toEqual({ isDone: true, waiting: [] });
    expect(forced.map(({ key, finalizer }) => `${key.name} ${finalizer}`)).toEqual(
      ['a', 'b', 'c'].map((name) => `${name} ${FINALIZER}`),
    );
    expect(await step(c, later, undefined, { forcedFinalizer: FINALIZER })).toMatchObject({ isDone: true, forced: [] });
  });

  test('neither waits for nor releases a foreign object that is being deleted and resembles ours', async () => {
    await using c = await cluster();
    const tiered = { 'test.bowline.dev/tier': 'first' };
    const object = await create(c, 'foreign', { labels: tiered, finalizers: [FINALIZER] });
    await c.admin.delete(ConfigMap, keyOf(object));
    const later = new VirtualClock({ startMs: Date.now() + 3_600_000 });
    const client = new ObservedClient(c.admin);
    expect(await step(c, later, client, { forcedFinalizer: FINALIZER })).toEqual({
      isDone: true,
      waiting: [],
      forced: [],
    });
    expect(client.verbs()).toBe('find');
    await free(c, 'foreign');
  });

  test('continues with other objects of the tier when one fails, but not with the next tier', async () => {
    await using c = await cluster();
    for (const name of ['a', 'b', 'c']) await child(c, name, 'first');
    await child(c, 'd', 'second');
    const client = new ObservedClient(c.admin);
    client.before('delete', () => Promise.reject(new Error('not today')));
    await expect(step(c, systemClock, client)).rejects.toThrow('not today');
    const { items } = await c.admin.list(ConfigMap, { namespace: c.namespace, labelSelector: 'test.bowline.dev/tier' });
    expect(items.map(({ metadata }) => metadata?.labels?.['test.bowline.dev/tier']).toSorted()).toEqual([
      'first',
      'second',
    ]);
  });

  test('never treats a failed list as an empty one', async () => {
    await using c = await cluster();
    await child(c, 'c', 'second');
    const broken: CleanupTier = { name: 'first', find: () => Promise.reject(new Error('no list today')) };
    const remove = () => Promise.reject(new Error('must not be called'));
    const tools = { live: c.admin, clock: systemClock, fieldManager: MANAGER };
    const run = cleanUpTiers(tools, [broken], { deletion: background, remove });
    await expect(run).rejects.toThrow('no list today');
  });

  /**
   * deletedParent returns a parent that is being deleted, with two children, each in its tier; a grandchild depends on
   * the first child.
   */
  async function deletedParent(
    c: Cluster,
    propagationPolicy: 'Background' | 'Foreground' | 'Orphan',
  ): Promise<Deletion> {
    const parent = await create(c, 'parent', { finalizers: [FINALIZER] });
    const ownedBy = ({ metadata }: ConfigMap) => [
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name: metadata?.name ?? '',
        uid: metadata?.uid ?? '',
        blockOwnerDeletion: true,
      },
    ];
    const first = await child(c, 'a', 'first');
    await create(c, 'of-a', { ownerReferences: ownedBy(first), finalizers: [OTHER] });
    await child(c, 'b', 'second');
    // As returned: a moment later the garbage collector may have removed the finalizer that records the mode.
    const answer = await c.admin.delete(ConfigMap, keyOf(parent), { propagationPolicy });
    await free(c, 'parent');
    return deletionOf(answer) ?? background;
  }

  const find = (c: Cluster, name: string): Promise<ConfigMap | undefined> =>
    c.admin.find(ConfigMap, { namespace: c.namespace, name });

  test('continues with the next tier before the dependents of the previous one are gone, after a background deletion', async () => {
    await using c = await cluster();
    const deletion = await deletedParent(c, 'Background');
    expect(await step(c, systemClock, undefined, {}, { deletion })).toEqual({ isDone: true, waiting: [], forced: [] });
    expect(await find(c, 'b')).toBeUndefined();
    await free(c, 'of-a');
  });

  test('waits for the dependents of a tier before it continues with the next, after a foreground deletion', async () => {
    await using c = await cluster();
    const deletion = await deletedParent(c, 'Foreground');
    const waiting = [{ key: { name: 'a' }, finalizers: ['foregroundDeletion'] }];
    expect(await step(c, systemClock, undefined, {}, { deletion })).toMatchObject({ tier: 'first', waiting });
    await c.until(ConfigMap, { name: 'of-a' }, ({ metadata }) => metadata?.deletionTimestamp !== undefined);
    expect(await step(c, systemClock, undefined, {}, { deletion })).toMatchObject({ tier: 'first', waiting });
    expect((await find(c, 'b'))?.metadata?.deletionTimestamp).toBeUndefined();
    await free(c, 'of-a');
    await c.untilGone(ConfigMap, { namespace: c.namespace, name: 'a' });
    expect(await step(c, systemClock, undefined, {}, { deletion })).toMatchObject({ tier: 'second' });
    await c.untilGone(ConfigMap, { namespace: c.namespace, name: 'b' });
    expect(await step(c, systemClock, undefined, {}, { deletion })).toEqual({ isDone: true, waiting: [], forced: [] });
  });

  test('deletes nothing after an orphaning deletion, and releases objects on request', async () => {
    await using c = await cluster();
    const deletion = await deletedParent(c, 'Orphan');
    const client = new ObservedClient(c.admin);
    expect(await step(c, systemClock, client, {}, { deletion })).toEqual({ isDone: true, waiting: [], forced: [] });
    expect(client.verbs()).toBe('');
    const giveUp = ({ resource, object }: Leftover) =>
      release({ live: client, fieldManager: MANAGER }, resource, object, { labels: Object.keys(labels) });
    client.before('patch', () => Promise.reject(new Error('not today')));
    await expect(step(c, systemClock, client, {}, { deletion, release: giveUp })).rejects.toThrow('not today');
    expect(await step(c, systemClock, client, {}, { deletion, release: giveUp })).toMatchObject({ isDone: true });
    for (const [name, tier] of [
      ['a', 'first'],
      ['b', 'second'],
    ] as const) {
      const { metadata } = (await find(c, name)) ?? {};
      expect(metadata?.deletionTimestamp).toBeUndefined();
      expect(metadata?.labels).toEqual({ 'test.bowline.dev/tier': tier });
    }
    await free(c, 'of-a');
  });
});
