import { type Cluster, cluster } from '@bowline/control-plane/testing';
import { ConfigMap } from '@bowline/kubernetes';
import { forEachConcurrently, systemClock } from '@bowline/machinery';
import { describe, expect, test } from 'vitest';
import { Cache } from '../cache/cache.ts';
import { RecordingClient } from '../controller/live-client.ts';
import { MANAGED_BY } from '../identity/operator-identity.ts';
import { ObservedClient } from '../writing/observed-client.test-support.ts';
import { contentLookup } from './content-lookup.ts';
import { type EnsureOptions, ensureContent } from './ensure-content.ts';
import { releaseContent } from './release-content.ts';
import {
  ALLOWED,
  desiredSample,
  MANAGER,
  OWNER,
  PREFIX,
  type SampleView,
  sample,
  sampleClaim,
  toolsOf,
} from './sample-content.test-support.ts';

type Options = Partial<EnsureOptions<ConfigMap, SampleView, string>>;

function setUp(c: Cluster) {
  const client = new ObservedClient(c.admin);
  const tools = toolsOf(client);
  const key = { namespace: c.namespace, name: 'chosen' };
  const ensure = (data: Record<string, string>, options: Options = {}) =>
    ensureContent(tools, sample, key, desiredSample({ data }), { claim: sampleClaim, ...options });
  const stored = () => c.admin.get(ConfigMap, key);
  const edit = (body: object) => c.admin.patch(ConfigMap, key, { type: 'merge', body });
  return { client, tools, key, ensure, stored, edit };
}

describe('ensure', () => {
  test('creates, updates and repairs with one request each, and sends none if nothing differs', async () => {
    await using c = await cluster();
    const { client, ensure, stored, edit } = setUp(c);
    const outcomes: string[] = [];
    for (const data of [{ a: '1', b: '2' }, { a: '1', b: '2' }, { a: '2' }]) {
      outcomes.push((await ensure(data)).outcome);
    }
    await edit({ data: { more: 'drift' }, metadata: { labels: { theirs: 'yes' } } });
    outcomes.push((await ensure({ a: '2' })).outcome, (await ensure({})).outcome, (await ensure({})).outcome);
    expect(outcomes).toEqual(['created', 'unchanged', 'updated', 'repaired', 'updated', 'unchanged']);
    expect(client.verbs()).toBe('find create find find strategic find strategic find strategic find');
    const { data, metadata } = await stored();
    expect(data).toBeUndefined();
    expect(metadata?.labels).toEqual({ [MANAGED_BY]: MANAGER, [OWNER]: 'me', theirs: 'yes' });
  });

  test('does not write to an object that was changed meanwhile, but plans again', async () => {
    await using c = await cluster();
    const { client, ensure, stored, edit } = setUp(c);
    await ensure({ a: '1' });
    client.before('patch', () => edit({ metadata: { labels: { [OWNER]: 'them' } } }));
    expect(await ensure({ a: '2' })).toMatchObject({
      outcome: 'stopped',
      stop: { reason: 'refused', refused: 'it belongs to them' },
    });
    expect((await stored()).data).toEqual({ a: '1' });
    await edit({ metadata: { labels: { [OWNER]: 'me' } } });
    client.before('patch', () => edit({ data: { a: 'theirs' } }));
    await expect(ensure({ a: '2' }, { attempts: 1 })).rejects.toMatchObject({ code: 'BOWLINE_API_CONFLICT' });
    expect((await stored()).data).toEqual({ a: 'theirs' });
  });

  test('plans again for an object that was created meanwhile, and for one that was replaced', async () => {
    await using c = await cluster();
    const { client, key, ensure, stored } = setUp(c);
    client.before('create', () => c.admin.create(ConfigMap, { metadata: key, data: { a: 'theirs' } }));
    expect(await ensure({ a: '1' })).toMatchObject({ outcome: 'stopped', stop: { reason: 'exists' } });
    expect((await stored()).data).toEqual({ a: 'theirs' });
    await c.admin.delete(ConfigMap, key);
    await ensure({ a: '1' });
    client.before('patch', async () => {
      await c.admin.delete(ConfigMap, key);
      await c.admin.create(ConfigMap, { metadata: key, data: { a: 'another' } });
    });
    expect(await ensure({ a: '2' })).toMatchObject({ outcome: 'stopped', stop: { reason: 'exists' } });
    expect((await stored()).data).toEqual({ a: 'another' });
  });

  test('adopts an object after saving its content, even if that changes meanwhile, and releases it', async () => {
    await using c = await cluster();
    const { client, tools, key, ensure, stored, edit } = setUp(c);
    const labels = { [MANAGED_BY]: 'Helm', theirs: 'yes' };
    await c.admin.create(ConfigMap, { metadata: { ...key, labels }, data: { a: 'first', b: 'theirs' } });
    client.before('patch', () => edit({ data: { a: 'second' } }));
    expect(await ensure({ a: '1' }, { adopt: true })).toMatchObject({ outcome: 'adopted' });
    const { metadata, data } = await stored();
    expect(data).toEqual({ a: '1' });
    expect(metadata?.labels).toEqual({ [MANAGED_BY]: MANAGER, [OWNER]: 'me', theirs: 'yes' });
    const saved = await c.admin.list(ConfigMap, { namespace: c.namespace, labelSelector: `${PREFIX}backup-of=chosen` });
    expect(saved.items.map((each) => each.data?.a).sort()).toEqual(['first', 'second']);
    expect(saved.items.map((each) => each.metadata?.name).sort()).toEqual([
      'chosen-before',
      expect.stringMatching(/^chosen-before-[0-9a-f]{8}$/),
    ]);
    expect((await ensure({ a: '1' }, { adopt: true })).outcome).toBe('unchanged');

    const view = sample.viewOf(await stored());
    expect(await releaseContent(tools, sample, view, { delete: true, isStillOurs: () => true })).toBe('released');
    const released = await stored();
    expect([released.data, released.metadata?.labels]).toEqual([{ a: '1' }, labels]);
    expect(released.metadata?.annotations).toBeUndefined();
  });

  test('merges by key: keeps keys of other clients, removes its own, and reports conflicts until forced', async () => {
    await using c = await cluster();
    const { client, ensure, stored, edit } = setUp(c);
    const merging = { keys: 'written' } as const;
    await ensure({ a: '1', b: '2' }, merging);
    await edit({ data: { theirs: 'x', c: 'theirs' } });
    client.verbs();
    expect(await ensure({ a: '3', c: 'ours' }, merging)).toMatchObject({ outcome: 'updated', conflicts: ['c'] });
    expect((await stored()).data).toEqual({ a: '3', c: 'theirs', theirs: 'x' });
    expect(client.verbs()).toBe('find strategic');
    expect(await ensure({ a: '3', c: 'ours' }, merging)).toMatchObject({ outcome: 'unchanged', conflicts: ['c'] });
    expect(client.verbs()).toBe('find');
    expect(await ensure({ c: 'ours' }, { ...merging, force: true })).toMatchObject({ conflicts: [] });
    expect((await stored()).data).toEqual({ c: 'ours', theirs: 'x' });
  });

  test('manages its keys in an object of another owner, and replaces none of the owner’s keys', async () => {
    await using c = await cluster();
    const { key, ensure, stored } = setUp(c);
    await c.admin.create(ConfigMap, {
      metadata: { ...key, annotations: { [ALLOWED]: 'true' } },
      data: { theirs: 'x' },
    });
    await ensure({ a: '1', b: '2' });
    expect((await ensure({ b: '2' })).outcome).toBe('updated');
    const { data, metadata } = await stored();
    expect(data).toEqual({ b: '2', theirs: 'x' });
    expect(metadata?.labels).toBeUndefined();
    expect(await ensure({ b: '2', theirs: 'x' })).toMatchObject({
      outcome: 'stopped',
      stop: { reason: 'keys', keys: ['theirs'] },
    });
    expect((await ensure({ b: '2' })).outcome).toBe('unchanged');
  });

  test('recreates an immutable object with the metadata of other clients, and saves merged content first', async () => {
    await using c = await cluster();
    const { client, ensure, stored, edit } = setUp(c);
    await ensure({ a: '1' });
    await edit({ data: { b: 'theirs' }, immutable: true, metadata: { annotations: { theirs: 'yes' } } });
    client.verbs();
    const merging = { keys: 'written', recreate: true } as const;
    expect(await ensure({ a: '2', b: 'ours' }, merging)).toMatchObject({ outcome: 'recreated', conflicts: ['b'] });
    expect(client.verbs()).toBe('find create delete create');
    const { data, metadata } = await stored();
    expect(data).toEqual({ a: '2', b: 'theirs' });
    expect(metadata?.annotations).toMatchObject({ theirs: 'yes', [`${PREFIX}keys`]: 'a' });
    await edit({ immutable: true });
    expect(await ensure({ a: '2', b: 'ours' }, merging)).toMatchObject({ outcome: 'unchanged', conflicts: ['b'] });
    expect((await stored()).metadata?.uid).toBe(metadata?.uid);
    expect(await ensure({ a: '3' }, { recreate: false })).toMatchObject({ stop: { reason: 'immutable' } });
  });

  test('reports a missing namespace as the API server does', async () => {
    await using c = await cluster();
    const { tools } = setUp(c);
    const key = { namespace: 'not-there', name: 'a' };
    const run = ensureContent(tools, sample, key, desiredSample({ data: { a: '1' } }), { claim: sampleClaim });
    await expect(run).rejects.toMatchObject({ code: 'BOWLINE_API_NOT_FOUND' });
  });
});

describe('release', () => {
  test('deletes an object that we created if it is unchanged, and keeps one that another owner has taken over', async () => {
    await using c = await cluster();
    const { client, tools, key, ensure, stored, edit } = setUp(c);
    const isStillOurs = ({ labels }: SampleView): boolean => labels[OWNER] === 'me';
    const release = async () =>
      releaseContent(tools, sample, sample.viewOf(await stored()), { delete: true, isStillOurs });
    await ensure({ a: '1' });
    client.before('delete', () => edit({ metadata: { labels: { [OWNER]: 'them' } } }));
    expect(await release()).toBe('foreign');
    await edit({ metadata: { labels: { [OWNER]: 'me' } } });
    client.before('delete', () => edit({ data: { a: 'edited' } }));
    expect(await release()).toBe('deleted');
    expect(await c.admin.find(ConfigMap, key)).toBeUndefined();
  });
});

test('many objects take one request each to create and none while unchanged, even after a restart', async () => {
  await using c = await cluster();
  const names = Array.from({ length: 200 }, (_, index) => `copy-${index}`);
  const desired = desiredSample({ data: { a: '1', b: '2' } });
  /** The state of a process that writes: a cache of its objects without their values, and no memory. */
  const processOf = async () => {
    const stop = new AbortController();
    const cache = new Cache({ client: c.admin });
    const labelSelector = `${MANAGED_BY}=${MANAGER}`;
    const informer = cache.informer(ConfigMap, { view: sample.view, namespaces: [c.namespace], labelSelector });
    const running = cache.run(stop.signal);
    await informer.synced();
    const client = new ObservedClient(new RecordingClient(c.admin, cache, stop.signal));
    const tools = { live: client, clock: systemClock, fieldManager: 'test', lookUp: contentLookup([informer]) };
    return {
      client,
      async ensureAll(): Promise<readonly string[]> {
        const outcomes = new Set<string>();
        const failures = await forEachConcurrently(names, 32, async (name) => {
          const key = { namespace: c.namespace, name };
          outcomes.add((await ensureContent(tools, sample, key, desired, { claim: sampleClaim })).outcome);
        });
        expect(failures).toEqual([]);
        return [...outcomes];
      },
      ensureUnlabelled: () =>
        ensureContent(tools, sample, { namespace: c.namespace, name: 'x' }, desiredSample({}, { manager: 'before' }), {
          claim: sampleClaim,
        }),
      async [Symbol.asyncDispose]() {
        stop.abort();
        await running;
      },
    };
  };
  const lonely = await processOf();
  await expect(lonely.ensureUnlabelled()).rejects.toMatchObject({
    code: 'BOWLINE_OUTSIDE_SELECTOR',
    message: expect.stringContaining(`selects ${MANAGED_BY}=${MANAGER}, which it does not match`) as unknown,
  });
  expect(lonely.client.verbs()).toBe('');
  await lonely[Symbol.asyncDispose]();
  await using before = await processOf();
  expect(await before.ensureAll()).toEqual(['created']);
  expect(before.client.verbs()).toBe(Array(200).fill('create').join(' '));
  expect(await before.ensureAll()).toEqual(['unchanged']);
  await using after = await processOf();
  expect(await after.ensureAll()).toEqual(['unchanged']);
  expect(`${before.client.verbs()}${after.client.verbs()}`).toBe('');
});
