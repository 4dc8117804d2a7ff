import { createHash } from 'node:crypto';
import { type Cluster, cluster } from '@bowline/control-plane/testing';
import { ConfigMap, type KubernetesObject, keyOf, Secret } from '@bowline/kubernetes';
import { forEachConcurrently } from '@bowline/machinery';
import { describe, expect, test } from 'vitest';
import { Cache } from '../cache/cache.ts';
import { project, trigger } from '../cache/view.ts';
import { RecordingClient } from '../controller/live-client.ts';
import { informerLookup } from './informer-lookup.ts';
import { ObservedClient } from './observed-client.test-support.ts';
import { createWriter, type Writer } from './writer.ts';

const MANAGER = 'bowline-test-fan-out';
const LABEL = 'test.bowline.dev/copy-of';
const labels = { [LABEL]: 'a' };

/** What an operator that copies ConfigMaps keeps of its copies. */
const hashed = project(({ metadata, data }: ConfigMap) => ({
  metadata: { ...metadata, managedFields: undefined },
  hash: createHash('sha256')
    .update(JSON.stringify(data ?? {}))
    .digest('hex'),
}));

/** copying is what a process has that copies: a cache of its copies alone, and a writer that remembers nothing yet. */
async function copying(c: Cluster) {
  const stop = new AbortController();
  const cache = new Cache({ client: c.admin });
  const informer = cache.informer(ConfigMap, { view: hashed, namespaces: [c.namespace], labelSelector: LABEL });
  const running = cache.run(stop.signal);
  await informer.synced();
  const client = new ObservedClient(new RecordingClient(c.admin, cache, stop.signal));
  const writer = createWriter({ client, fieldManager: MANAGER, lookup: informerLookup([informer]) });
  return {
    client,
    writer,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

const copy = (c: Cluster, name: string, data: Record<string, string> = { a: '1', b: '2' }): ConfigMap => ({
  metadata: { namespace: c.namespace, name, annotations: { 'test.bowline.dev/hash': JSON.stringify(data) } },
  data,
});

describe('many objects at once', () => {
  test('cost one request each to make, none while they stay, and one read each after a restart', async () => {
    await using c = await cluster();
    const copies = Array.from({ length: 200 }, (_, index) => copy(c, `copy-${index}`));
    const ensureAll = async (writer: Writer): Promise<string[]> => {
      const outcomes: string[] = [];
      const failures = await forEachConcurrently(copies, 32, async (each) => {
        outcomes.push((await writer.ensure(ConfigMap, each, { labels })).outcome);
      });
      expect(failures).toEqual([]);
      return [...new Set(outcomes)];
    };
    await using before = await copying(c);
    expect(await ensureAll(before.writer)).toEqual(['created']);
    expect(before.client.verbs()).toBe(Array(200).fill('create').join(' '));
    expect(await ensureAll(before.writer)).toEqual(['unchanged']);
    expect(before.client.verbs()).toBe('');
    await using after = await copying(c);
    expect(await ensureAll(after.writer)).toEqual(['unchanged']);
    expect(after.client.verbs()).toBe(Array(200).fill('find').join(' '));
    expect(await ensureAll(after.writer)).toEqual(['unchanged']);
    expect(after.client.verbs()).toBe('');
  });
});

describe('an object that was created plainly', () => {
  test('loses what is no longer wanted, in one write or two, and keeps what others add', async () => {
    await using c = await cluster();
    await using process = await copying(c);
    const { client, writer } = process;
    const ensure = async (data: Record<string, string>) =>
      (await writer.ensure(ConfigMap, copy(c, 'x', data), { labels })).object;
    await ensure({ a: '1', b: '2', c: '3' });
    const key = { namespace: c.namespace, name: 'x' };
    await c.admin.patch(ConfigMap, key, {
      type: 'merge',
      body: { metadata: { labels: { theirs: 'yes' } }, data: { theirs: 'yes', c: 'taken over' } },
    });
    client.verbs();
    // c is theirs since they changed it; a is ours, and must really go.
    expect((await ensure({ b: '2' })).data).toEqual({ b: '2', c: 'taken over', theirs: 'yes' });
    expect(client.verbs()).toBe('find merge apply');
    expect((await ensure({ b: '2', d: '4' })).data).toEqual({ b: '2', c: 'taken over', d: '4', theirs: 'yes' });
    // b was created plainly and applied since: it has two owners, both of them us.
    expect((await ensure({ d: '5' })).data).toEqual({ c: 'taken over', d: '5', theirs: 'yes' });
    const { metadata } = await ensure({ d: '5' });
    expect(metadata?.labels).toEqual({ ...labels, theirs: 'yes' });
  });

  test.each<[what: string, kind: typeof ConfigMap | typeof Secret, object: object, how: string]>([
    ['a ConfigMap', ConfigMap, { data: { a: '1' }, immutable: true }, 'create'],
    ['one with binary data', ConfigMap, { binaryData: { a: 'AA==' } }, 'create'],
    ['one whose empty map the server drops', ConfigMap, { data: {} }, 'apply'],
    ['a Secret', Secret, { type: 'Opaque', data: { a: 'AA==' } }, 'create'],
    ['one whose type the server fills in', Secret, { data: { a: 'AA==' } }, 'apply'],
    ['one with a list', ConfigMap, { metadata: { finalizers: ['test.bowline.dev/a'] } }, 'apply'],
  ])('is %s, if nothing differs after a restart; else it is applied', async (_, kind, object, how) => {
    await using c = await cluster();
    const client = new ObservedClient(c.admin);
    const lookup = () => ({ object: undefined, isComplete: true });
    const key = { namespace: c.namespace, name: 'x' };
    const { metadata, ...content } = object as KubernetesObject;
    const desired: KubernetesObject = { metadata: { ...metadata, ...key }, ...content };
    const ensure = (writer: Writer) => writer.ensure<KubernetesObject>(kind, desired, { labels });
    expect((await ensure(createWriter({ client, fieldManager: MANAGER, lookup }))).outcome).toBe('created');
    expect((await ensure(createWriter({ client, fieldManager: MANAGER }))).outcome).toBe('unchanged');
    expect(client.verbs()).toBe(`${how} find`);
    await c.admin.patch(kind, key, { type: 'merge', body: { metadata: { finalizers: null } } });
  });
});

test('what caches say of an object that they do not have', async () => {
  await using c = await cluster();
  const stop = new AbortController();
  const cache = new Cache({ client: c.admin });
  const scope = { namespaces: [c.namespace] };
  const informers = {
    all: cache.informer(ConfigMap, scope),
    labelled: cache.informer(ConfigMap, { ...scope, labelSelector: LABEL }),
    named: cache.informer(ConfigMap, { ...scope, fieldSelector: 'metadata.name=a' }),
    elsewhere: cache.informer(ConfigMap, { namespaces: ['default'] }),
    some: cache.informer(ConfigMap, { ...scope, view: project(({ data }: ConfigMap) => data?.a) }),
    fussy: cache.informer(ConfigMap, { ...scope, view: project((map: ConfigMap) => map.metadata?.uid?.length) }),
    broken: cache.informer(ConfigMap, {
      ...scope,
      view: project(() => {
        throw new TypeError('made for something else');
      }),
    }),
    triggering: cache.informer(ConfigMap, { ...scope, view: trigger(({ name }) => name === 'a') }),
  };
  const running = cache.run(stop.signal);
  await Promise.all(Object.values(informers).map((informer) => informer.synced()));
  const key = { namespace: c.namespace, name: 'a' };
  const saysOf = (desired?: ConfigMap): string[] =>
    Object.entries(informers)
      .filter(([, informer]) => informerLookup([informer])(ConfigMap, desired ? keyOf(desired) : key, desired))
      .map(([name]) => name);
  expect(saysOf()).toEqual(['all']);
  expect(saysOf({ metadata: key })).toEqual(['all', 'named', 'triggering']);
  expect(saysOf({ metadata: { ...key, name: 'b' } })).toEqual(['all']);
  expect(saysOf({ metadata: { ...key, name: 'b', labels }, data: { a: '1' } })).toEqual(['all', 'labelled', 'some']);
  stop.abort();
  await running;
});
