import { type Cluster, cluster } from '@bowline/control-plane/testing';
import { ConfigMap, type KubernetesObject, keyOf, Namespace, Secret } from '@bowline/kubernetes';
import { describe, expect, test } from 'vitest';
import { ObservedClient } from './observed-client.test-support.ts';
import { release } from './release.ts';
import { createWriter } from './writer.ts';

const MANAGER = 'bowline-test-remove';
const labels = { 'test.bowline.dev/copy-of': 'a' };

function setUp(c: Cluster) {
  const client = new ObservedClient(c.admin);
  const key = { namespace: c.namespace, name: 'chosen' };
  return { client, key, writer: createWriter({ client, fieldManager: MANAGER }) };
}

describe('createOnce', () => {
  const password = (value: string) => () => ({ type: 'Opaque', data: { password: value } });

  test('creates a missing object, and never writes it again, whatever its content', async () => {
    await using c = await cluster();
    const { client, key, writer } = setUp(c);
    expect((await writer.createOnce(Secret, key, password('MQ=='), { labels })).outcome).toBe('created');
    const again = await writer.createOnce(Secret, key, () => Promise.reject(new Error('not needed')), { labels });
    expect(again).toMatchObject({ outcome: 'unchanged', object: { metadata: { labels }, data: { password: 'MQ==' } } });
    await c.admin.patch(Secret, key, { type: 'merge', body: { data: { password: 'Mg==' } } });
    const { object } = await writer.createOnce(Secret, key, password('Mw=='), { labels });
    expect(object.data).toEqual({ password: 'Mg==' });
    expect(client.verbs()).toBe('find create find find');
  });

  test('keeps an object that is missing from the cache, or created just before the write', async () => {
    await using c = await cluster();
    const { client, key } = setUp(c);
    const lookup = () => ({ object: undefined, isComplete: true });
    const writer = createWriter({ client, fieldManager: MANAGER, lookup, ownership: { labels } });
    const theirs = () => c.admin.create(Secret, { metadata: { ...key, labels }, data: { password: 'MQ==' } });
    client.before('create', theirs);
    const { outcome, object } = await writer.createOnce(Secret, key, password('Mg=='));
    expect([outcome, object.data]).toEqual(['unchanged', { password: 'MQ==' }]);
    expect((await writer.createOnce(Secret, key, password('Mg=='))).object.data).toEqual({ password: 'MQ==' });
    expect(client.verbs()).toBe('find create find find');
  });

  test('sends no request when the object is in the cache', async () => {
    const lookup = () => ({ object: { metadata: { name: 'a', uid: 'u', labels } }, isComplete: false });
    const client = { find: unexpected, create: unexpected, patch: unexpected, delete: unexpected };
    const writer = createWriter({ client, fieldManager: MANAGER, lookup, ownership: { labels } });
    const key = { namespace: 'a', name: 'a' };
    expect((await writer.createOnce(Secret, key, unexpected)).outcome).toBe('unchanged');
  });

  test('rejects an object of another client', async () => {
    await using c = await cluster();
    const { key, writer } = setUp(c);
    await c.admin.create(Secret, { metadata: key, data: { password: 'MQ==' } });
    await expect(writer.createOnce(Secret, key, password('Mg=='), { labels })).rejects.toMatchObject({
      code: 'BOWLINE_FOREIGN_OBJECT',
    });
  });
});

function unexpected(): Promise<never> {
  return Promise.reject(new Error('must not be called'));
}

describe('release', () => {
  test('removes our labels, annotations and owner reference and keeps the content', async () => {
    await using c = await cluster();
    const { client, key, writer } = setUp(c);
    const annotations = { 'test.bowline.dev/hash': 'x' };
    const copy: ConfigMap = { metadata: { ...key, annotations }, data: { a: '1' } };
    const owner = {
      resource: ConfigMap,
      object: await c.admin.create(ConfigMap, { metadata: { ...key, name: 'owner' } }),
    };
    const { object } = await writer.apply(ConfigMap, copy, { labels, owner });
    const marks = { labels: Object.keys(labels), annotations: Object.keys(annotations), owner };
    client.verbs();
    const released = await release({ live: client, fieldManager: MANAGER }, ConfigMap, object, marks);
    expect(released).toMatchObject({ data: { a: '1' } });
    expect(released?.metadata?.labels).toBeUndefined();
    expect(released?.metadata?.annotations).toBeUndefined();
    expect(released?.metadata?.ownerReferences).toBeUndefined();
    if (released) await release({ live: client, fieldManager: MANAGER }, ConfigMap, released, marks);
    expect(client.verbs()).toBe('merge');
  });
});

describe('remove', () => {
  test('deletes our object and succeeds when it is gone', async () => {
    await using c = await cluster();
    const { client, key, writer } = setUp(c);
    await writer.apply(ConfigMap, { metadata: key }, { labels });
    client.verbs();
    expect(await writer.remove(ConfigMap, key, { labels })).toEqual({ outcome: 'deleted' });
    expect(await writer.remove(ConfigMap, key, { labels })).toEqual({ outcome: 'absent' });
    expect(client.verbs()).toBe('find delete find');
  });

  test('does not touch an object that is not ours, is no longer ours, or has replaced ours', async () => {
    await using c = await cluster();
    const { client, key, writer } = setUp(c);
    await c.admin.create(ConfigMap, { metadata: key });
    expect((await writer.remove(ConfigMap, key, { labels })).outcome).toBe('foreign');
    const transferOwnership = () =>
      c.admin.patch(ConfigMap, key, { type: 'merge', body: { metadata: { labels: null } } });
    await c.admin.patch(ConfigMap, key, { type: 'merge', body: { metadata: { labels } } });
    client.before('delete', transferOwnership);
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

  test('reports an object that is still terminating, and applies the propagation policy to dependents', async () => {
    await using c = await cluster();
    const { client, key, writer } = setUp(c);
    const finalizers = ['test.bowline.dev/keep'];
    await writer.apply(ConfigMap, { metadata: { ...key, finalizers } }, { labels });
    const first = await writer.remove(ConfigMap, key, { labels, propagationPolicy: 'Orphan' });
    expect(first).toMatchObject({ outcome: 'terminating', metadata: { name: 'chosen' } });
    client.verbs();
    expect((await writer.remove(ConfigMap, key, { labels })).outcome).toBe('terminating');
    expect(client.verbs()).toBe('find');
    await c.admin.patch(ConfigMap, key, { type: 'merge', body: { metadata: { finalizers: null } } });
    await c.untilGone(ConfigMap, key);
  });

  test('supports cluster-scoped kinds', async () => {
    await using c = await cluster();
    const { writer } = setUp(c);
    const namespace = { metadata: { name: c.uniqueName() } };
    await writer.apply(Namespace, namespace, { labels });
    const removed = await writer.remove(Namespace, keyOf(namespace as KubernetesObject), { labels });
    expect(removed.outcome).toBe('terminating');
  });
});
