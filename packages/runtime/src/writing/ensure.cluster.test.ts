import { type Cluster, cluster } from '@bowline/control-plane/testing';
import { ConfigMap, type KubernetesObject, keyOf, Namespace, Secret } from '@bowline/kubernetes';
import { describe, expect, test } from 'vitest';
import { saveBackup } from './backup.ts';
import { ObservedClient } from './observed-client.test-support.ts';
import { release } from './release.ts';
import { createWriter, type EnsureOptions } from './writer.ts';

const MANAGER = 'bowline-test-ensure';
const labels = { 'test.bowline.dev/copy-of': 'a' };

function setUp(c: Cluster) {
  const client = new ObservedClient(c.admin);
  const key = { namespace: c.namespace, name: 'chosen' };
  return { client, key, writer: createWriter({ client, fieldManager: MANAGER }) };
}

/** backupOf saves what an object holds, as an operator that copies ConfigMaps would. */
function backupOf(client: ObservedClient): NonNullable<EnsureOptions<ConfigMap>['backup']> {
  return (existing) =>
    saveBackup({
      client,
      fieldManager: MANAGER,
      resource: ConfigMap,
      key: { namespace: existing.metadata?.namespace, name: `${existing.metadata?.name}-before-sync` },
      content: { metadata: { labels }, data: existing.data, binaryData: existing.binaryData },
    });
}

describe('ensure', () => {
  test('creates what is absent and keeps it, without an owner', async () => {
    await using c = await cluster();
    const { client, key, writer } = setUp(c);
    const copy: ConfigMap = { metadata: key, data: { a: '1' } };
    const { outcome, object } = await writer.ensure(ConfigMap, copy, { labels });
    expect(outcome).toBe('created');
    expect(object.metadata).toMatchObject({ labels });
    expect(object.metadata?.ownerReferences).toBeUndefined();
    expect((await writer.ensure(ConfigMap, copy, { labels })).outcome).toBe('unchanged');
    expect((await writer.ensure(ConfigMap, { ...copy, data: {} }, { labels })).object.data).toBeUndefined();
    expect((await writer.ensure(ConfigMap, { ...copy, data: {} }, { labels })).outcome).toBe('unchanged');
    expect(client.verbs()).toBe('find create find find merge apply find');
  });

  test('refuses what somebody else made, also when it appears just before the write, and names the label that hands it over', async () => {
    await using c = await cluster();
    const { client, key, writer } = setUp(c);
    client.before('create', () => c.admin.create(ConfigMap, { metadata: key, data: { a: 'theirs' } }));
    const copy: ConfigMap = { metadata: key, data: { a: '1' } };
    await expect(writer.ensure(ConfigMap, copy, { labels })).rejects.toMatchObject({
      code: 'BOWLINE_FOREIGN_OBJECT',
      message: expect.stringContaining('hand it over with the label test.bowline.dev/copy-of=a') as unknown,
    });
    expect((await c.admin.get(ConfigMap, key)).data).toEqual({ a: 'theirs' });
    await c.admin.patch(ConfigMap, key, { type: 'merge', body: { metadata: { labels } } });
    expect((await writer.ensure(ConfigMap, copy, { labels })).object.data).toEqual({ a: '1' });
  });

  test('writes its own keys into what a guard of the caller allows, and takes only those away again', async () => {
    await using c = await cluster();
    const { key, writer } = setUp(c);
    const allowed = { 'test.bowline.dev/merge-allowed': 'true' };
    await c.admin.create(Secret, { metadata: { ...key, annotations: allowed }, data: { theirs: 'YQ==' } });
    const isOurs: EnsureOptions<Secret>['isOurs'] = ({ annotations }) =>
      annotations?.['test.bowline.dev/merge-allowed'] === 'true';
    await writer.ensure(Secret, { metadata: key, data: { a: 'MQ==', b: 'Mg==' } }, { isOurs });
    const { object } = await writer.ensure(Secret, { metadata: key, data: { b: 'Mg==' } }, { isOurs });
    expect(object.data).toEqual({ theirs: 'YQ==', b: 'Mg==' });
    expect(object.metadata?.labels).toBeUndefined();
    expect(await writer.remove(Secret, key, { isOurs: () => false })).toMatchObject({ outcome: 'foreign' });
  });

  test('takes an object over after a backup, makes its maps exact and never deletes anything in it that it was not told to', async () => {
    await using c = await cluster();
    const { client, key, writer } = setUp(c);
    const annotations = { note: 'theirs' };
    await c.admin.create(ConfigMap, { metadata: { ...key, annotations }, data: { a: 'theirs', b: 'theirs' } });
    const copy: ConfigMap = { metadata: key, data: { a: '1' } };
    const options: EnsureOptions<ConfigMap> = {
      labels,
      adopt: true,
      backup: backupOf(client),
      exact: ['data', 'binaryData'],
    };
    const adopted = await writer.ensure(ConfigMap, copy, options);
    expect(adopted.outcome).toBe('adopted');
    expect(adopted.object).toMatchObject({ data: { a: '1' }, metadata: { labels, annotations } });
    expect(client.verbs()).toBe('find create merge apply');
    const backup = { ...key, name: 'chosen-before-sync' };
    expect((await c.admin.get(ConfigMap, backup)).data).toEqual({ a: 'theirs', b: 'theirs' });
    expect((await writer.ensure(ConfigMap, copy, options)).outcome).toBe('unchanged');

    await c.admin.patch(ConfigMap, key, { type: 'merge', body: { data: { more: 'drift' } } });
    const cleared = await writer.ensure(ConfigMap, copy, options);
    expect(cleared).toMatchObject({ outcome: 'configured', object: { data: { a: '1' } } });
    expect(client.verbs()).toBe('find find merge');
  });

  test('saves again what changed between backup and write', async () => {
    await using c = await cluster();
    const { client, key, writer } = setUp(c);
    await c.admin.create(ConfigMap, { metadata: key, data: { a: 'first' } });
    client.before('patch', () => c.admin.patch(ConfigMap, key, { type: 'merge', body: { data: { a: 'second' } } }));
    const options: EnsureOptions<ConfigMap> = { labels, adopt: true, backup: backupOf(client) };
    expect((await writer.ensure(ConfigMap, { metadata: key, data: { a: '1' } }, options)).outcome).toBe('adopted');
    const saved = await c.admin.list(ConfigMap, { namespace: c.namespace });
    const contents = saved.items.filter(({ metadata }) => metadata?.name?.startsWith('chosen-before-sync'));
    expect(contents.map(({ data }) => data?.a).sort()).toEqual(['first', 'second']);
  });

  test('touches nothing when the backup fails or the user says no', async () => {
    await using c = await cluster();
    const { key, writer } = setUp(c);
    await c.admin.create(ConfigMap, { metadata: key, data: { a: 'theirs' } });
    const backup = () => Promise.reject(new Error('no room'));
    const copy: ConfigMap = { metadata: key, data: { a: '1' } };
    await expect(writer.ensure(ConfigMap, copy, { labels, adopt: true, backup })).rejects.toThrow('no room');
    await expect(writer.ensure(ConfigMap, copy, { labels, adopt: () => false, backup })).rejects.toMatchObject({
      code: 'BOWLINE_FOREIGN_OBJECT',
    });
    expect((await c.admin.get(ConfigMap, key)).data).toEqual({ a: 'theirs' });
  });

  test('says that a namespace is missing as the server says it', async () => {
    await using c = await cluster();
    const { writer } = setUp(c);
    const copy: ConfigMap = { metadata: { namespace: 'not-there', name: 'a' } };
    await expect(writer.ensure(ConfigMap, copy, { labels })).rejects.toMatchObject({ code: 'BOWLINE_API_NOT_FOUND' });
  });
});

describe('release', () => {
  test('takes our marks off and leaves the content', async () => {
    await using c = await cluster();
    const { client, key, writer } = setUp(c);
    const annotations = { 'test.bowline.dev/hash': 'x' };
    const copy: ConfigMap = { metadata: { ...key, annotations }, data: { a: '1' } };
    const owner = {
      resource: ConfigMap,
      object: await c.admin.create(ConfigMap, { metadata: { ...key, name: 'owner' } }),
    };
    const { object } = await writer.ensure(ConfigMap, copy, { labels, owner });
    const marks = { fieldManager: MANAGER, labels: Object.keys(labels), annotations: Object.keys(annotations), owner };
    client.verbs();
    const released = await release(client, ConfigMap, object, marks);
    expect(released).toMatchObject({ data: { a: '1' } });
    expect(released?.metadata?.labels).toBeUndefined();
    expect(released?.metadata?.annotations).toBeUndefined();
    expect(released?.metadata?.ownerReferences).toBeUndefined();
    if (released) await release(client, ConfigMap, released, marks);
    expect(client.verbs()).toBe('merge');
  });
});

describe('remove', () => {
  test('deletes what is ours and is content when it is gone', async () => {
    await using c = await cluster();
    const { client, key, writer } = setUp(c);
    await writer.ensure(ConfigMap, { metadata: key }, { labels });
    client.verbs();
    expect(await writer.remove(ConfigMap, key, { labels })).toEqual({ outcome: 'deleted' });
    expect(await writer.remove(ConfigMap, key, { labels })).toEqual({ outcome: 'absent' });
    expect(client.verbs()).toBe('find delete find');
  });

  test('does not touch what is not ours, what was given away meanwhile, or what has taken its place', async () => {
    await using c = await cluster();
    const { client, key, writer } = setUp(c);
    await c.admin.create(ConfigMap, { metadata: key });
    expect((await writer.remove(ConfigMap, key, { labels })).outcome).toBe('foreign');
    const giveAway = () => c.admin.patch(ConfigMap, key, { type: 'merge', body: { metadata: { labels: null } } });
    await c.admin.patch(ConfigMap, key, { type: 'merge', body: { metadata: { labels } } });
    client.before('delete', giveAway);
    expect((await writer.remove(ConfigMap, key, { labels })).outcome).toBe('foreign');
    const ours: ConfigMap = { metadata: { ...key, labels } };
    await c.admin.patch(ConfigMap, key, { type: 'merge', body: { metadata: { labels } } });
    client.before('delete', async () => {
      await c.admin.delete(ConfigMap, key);
      await c.admin.create(ConfigMap, ours);
    });
    expect(await writer.remove(ConfigMap, key, { labels })).toEqual({ outcome: 'absent' });
    expect(await writer.remove(ConfigMap, key, { labels, uid: 'of-another' })).toEqual({ outcome: 'absent' });
    expect(await c.admin.find(ConfigMap, key)).toBeDefined();
  });

  test('says when the object waits, and what becomes of dependents', async () => {
    await using c = await cluster();
    const { client, key, writer } = setUp(c);
    const finalizers = ['test.bowline.dev/keep'];
    await writer.ensure(ConfigMap, { metadata: { ...key, finalizers } }, { labels });
    const first = await writer.remove(ConfigMap, key, { labels, propagationPolicy: 'Orphan' });
    expect(first).toMatchObject({ outcome: 'terminating', metadata: { name: 'chosen' } });
    client.verbs();
    expect((await writer.remove(ConfigMap, key, { labels })).outcome).toBe('terminating');
    expect(client.verbs()).toBe('find');
    await c.admin.patch(ConfigMap, key, { type: 'merge', body: { metadata: { finalizers: null } } });
    await c.untilGone(ConfigMap, key);
  });

  test('works on cluster-scoped kinds', async () => {
    await using c = await cluster();
    const { writer } = setUp(c);
    const namespace = { metadata: { name: c.uniqueName() } };
    await writer.ensure(Namespace, namespace, { labels });
    const removed = await writer.remove(Namespace, keyOf(namespace as KubernetesObject), { labels });
    expect(removed.outcome).toBe('terminating');
  });
});
