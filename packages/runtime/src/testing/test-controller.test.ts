import { ClusterRole, ConfigMap, type ObjectOf, Pod, Secret } from '@bowline/kubernetes';
import { s } from '@bowline/machinery/schema';
import { describe, expect, it } from 'vitest';
import { managedContent } from '../content/managed-content.ts';
import { controller, keyed } from '../controller/builder.ts';
import { terminal } from '../controller/reconcile-error.ts';
import { companion } from '../operator/companion.ts';
import { installNamespace } from '../operator/install-namespace.ts';
import { allow } from '../permissions/permission.ts';
import { defineResource } from '../resource/define-resource.ts';
import { given, testController } from './index.ts';

const Site = defineResource({
  group: 'example.dev',
  version: 'v1',
  kind: 'Site',
  scope: 'Namespaced',
  spec: s.object({ title: s.string(), pages: s.integer().min(1).default(1) }),
  status: s.object({ words: s.integer().optional() }),
});
type Site = ObjectOf<typeof Site>;

const key = { namespace: 'shop', name: 'a' };
const site = given(Site, { metadata: key, spec: { title: 'hello world' } });

const chosen = managedContent({
  resource: Secret,
  maps: ['data'],
  managers: ['unit'],
  annotations: { hash: 'unit.test/hash', time: 'unit.test/written-at', keys: 'unit.test/keys' },
  operatorAnnotations: {},
});

const sites = controller(Site)
  .using<{ readonly greeting: string }>()
  .owns(ConfigMap, { remove: true })
  .ensures(Secret)
  .reconcile(async ({ object, apply, ensure, status, event, enqueue, clock, deps, causes, attempt, live }) => {
    const { title, pages } = object.spec;
    if (title === '') throw terminal('NoTitle', 'give it a title');
    await apply(ConfigMap, { metadata: key, data: { title: `${deps.greeting} ${title} ${pages}` } });
    const desired = chosen.desired({
      content: { data: { constant: btoa('x') } },
      operatorAnnotations: {},
      members: { type: 'Opaque' },
    });
    await ensure(chosen, { ...key, name: 'chosen' }, desired, { claim: () => 'ours' });
    status.set({ words: title.split(' ').length });
    event('Normal', 'Published', `attempt ${attempt} with ${causes.length} causes`);
    enqueue({ namespace: 'shop', name: 'b' }, { afterMs: 5 });
    if (title === 'pods') await live.list(Pod);
    return { requeueAfterMs: 60_000 - clock.monotonic() };
  })
  .cleanup(async ({ remove, event }) => {
    await remove(ConfigMap, key);
    event('Normal', 'Unpublished', 'it is gone');
  });

const deps = { greeting: 'I say' };

describe('a controller of a kind in a unit test', () => {
  it('behaves as in a cluster: finalizer, children, status, events and enqueued keys', async () => {
    await using t = await testController(sites, { objects: [site], deps });
    expect(await t.reconcile(key)).toEqual({ requeueAfterMs: 60_000 });
    expect(t.get(ConfigMap, key)).toMatchObject({
      data: { title: 'I say hello world 1' },
      metadata: { ownerReferences: [{ kind: 'Site', name: 'a', uid: t.get(Site, key)?.metadata?.uid }] },
    });
    expect(t.get(Site, key)).toMatchObject({
      metadata: { finalizers: ['example.dev/finalizer'], generation: 1 },
      status: { words: 2, observedGeneration: 1, conditions: [{ type: 'Ready', status: 'True' }] },
    });
    expect(t.writes.map(({ verb, kind, subresource }) => [verb, kind, subresource])).toEqual([
      ['patch', 'Site', undefined],
      ['apply', 'ConfigMap', undefined],
      ['create', 'Secret', undefined],
      ['patch', 'Site', 'status'],
    ]);
    expect(t.writes[1]).toMatchObject({ key, fieldManager: 'unit-unit-site' });
    expect(t.events).toMatchObject([
      { type: 'Normal', reason: 'Published', note: 'attempt 1 with 0 causes', regarding: { kind: 'Site', name: 'a' } },
    ]);
    expect(t.enqueued).toEqual([{ key: { namespace: 'shop', name: 'b' }, afterMs: 5 }]);
  });

  it('writes nothing in a second run, and only what differs after a change', async () => {
    await using t = await testController(sites, { objects: [site], deps });
    await t.reconcile(key);
    await t.clock.advance(1000);
    expect(await t.reconcile(key)).toEqual({ requeueAfterMs: 59_000 });
    expect(t.writes).toEqual([]);
    expect(t.events).toEqual([]);
    t.put(Site, { ...(t.get(Site, key) as Site), spec: { title: 'other', pages: 1 } });
    await t.reconcile(key, { attempt: 2 });
    expect(t.writes.map(({ kind }) => kind)).toEqual(['ConfigMap', 'Site']);
    expect(t.get(ConfigMap, key)?.data).toEqual({ title: 'I say other 1' });
    expect(t.get(Site, key)).toMatchObject({
      metadata: { generation: 2 },
      status: { words: 1, observedGeneration: 2 },
    });
  });

  it('repairs a child that another client changed', async () => {
    await using t = await testController(sites, { objects: [site], deps });
    await t.reconcile(key);
    t.put(ConfigMap, { ...t.get(ConfigMap, key), data: { title: 'mine' } });
    await t.reconcile(key);
    expect(t.writes.map(({ verb, kind }) => `${verb} ${kind}`)).toEqual(['apply ConfigMap']);
    expect(t.get(ConfigMap, key)?.data).toEqual({ title: 'I say hello world 1' });
  });

  it('cleans up an object that is being deleted, and removes its finalizer', async () => {
    await using t = await testController(sites, { objects: [site], deps });
    await t.reconcile(key);
    await t.delete(Site, key);
    expect(t.get(Site, key)?.metadata?.deletionTimestamp).toBeDefined();
    await t.reconcile(key);
    expect(t.writes.map(({ verb, kind }) => `${verb} ${kind}`)).toEqual(['delete ConfigMap', 'patch Site']);
    expect(t.events).toMatchObject([{ reason: 'Unpublished' }]);
    expect(t.get(ConfigMap, key)).toBeUndefined();
    expect(t.get(Site, key)).toBeUndefined();
  });

  it('rejects with the error of the reconcile function after writing status and events', async () => {
    const bad = given(Site, { metadata: key, spec: { title: '' } });
    await using t = await testController(sites, { objects: [bad], deps });
    await expect(t.reconcile(key)).rejects.toMatchObject({ message: 'give it a title' });
    expect(t.get(Site, key)?.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Stalled', status: 'True', reason: 'NoTitle' }),
    );
    expect(t.events).toMatchObject([{ type: 'Warning', reason: 'NoTitle', note: 'give it a title' }]);
  });

  it('never changes an object that it does not own', async () => {
    const foreign = given(ConfigMap, { metadata: key, data: { title: 'mine' } });
    await using t = await testController(sites, { objects: [site, foreign], deps });
    await expect(t.reconcile(key)).rejects.toMatchObject({ code: 'BOWLINE_FOREIGN_OBJECT' });
    expect(t.get(ConfigMap, key)?.data).toEqual({ title: 'mine' });
  });

  it('rejects requests that the operator does not declare, unless the test allows them', async () => {
    const pods = given(Site, { metadata: key, spec: { title: 'pods' } });
    await using refused = await testController(sites, { objects: [pods], deps });
    await expect(refused.reconcile(key)).rejects.toMatchObject({ code: 'BOWLINE_UNDECLARED_PERMISSION' });
    const pod = given(Pod, { metadata: { namespace: 'shop', name: 'p' } });
    const permissions = [allow(['list'], Pod)];
    await using allowed = await testController(sites, { objects: [pods, pod], deps, permissions });
    await expect(allowed.reconcile(key)).resolves.toBeDefined();
  });

  it('rejects a write that violates the schema of its kind', async () => {
    const writing = controller(ConfigMap)
      .applies(Site)
      .reconcile(async ({ apply }) => {
        await apply(Site, { metadata: key, spec: { title: 'a', pages: 0 } });
      });
    await using t = await testController(writing, { objects: [given(ConfigMap, { metadata: key })] });
    await expect(t.reconcile(key)).rejects.toMatchObject({
      code: 'BOWLINE_API_INVALID',
      message: expect.stringContaining('spec.pages'),
    });
  });

  it('skips a paused object, and reports an object that the test did not add', async () => {
    const annotations = { 'unit.test/paused': 'true' };
    const paused = given(Site, { metadata: { ...key, annotations }, spec: { title: 'a' } });
    await using t = await testController(sites, { objects: [paused], deps });
    await t.reconcile(key);
    expect(t.writes).toEqual([]);
    await expect(t.reconcile({ ...key, name: 'none' })).rejects.toMatchObject({
      code: 'BOWLINE_UNIT_TEST_INVALID',
      message: 'Site shop/none does not exist: add it with given(Site, …)',
    });
  });

  it('requires the deps of the controller', async () => {
    // @ts-expect-error the controller needs a greeting
    await using t = await testController(sites, { objects: [site] });
    await expect(t.reconcile(key)).rejects.toThrow(TypeError);
  });
});

describe('a keyed controller in a unit test', () => {
  const totals = keyed('totals')
    .watches(ConfigMap, {
      labelSelector: 'count=yes',
      indexes: { team: ({ metadata }) => [metadata.labels?.team ?? ''] },
      map: ({ metadata }) => [metadata.labels?.team ?? ''],
    })
    .ensures(Secret)
    .reports(ConfigMap)
    .reconcile(async ({ key: team, list, ensure, eventAbout }) => {
      const maps = list(ConfigMap, { by: { team } });
      const metadata = { namespace: 'shop', name: `total-${team}` };
      const desired = chosen.desired({
        content: { data: { total: btoa(String(maps.length)) } },
        operatorAnnotations: {},
      });
      await ensure(chosen, metadata, desired, { claim: () => 'ours' });
      for (const each of maps)
        eventAbout({ ...each, apiVersion: 'v1', kind: 'ConfigMap' }, 'Normal', 'Counted', 'it was counted');
    });
  const map = (name: string, team: string, count = 'yes') =>
    given(ConfigMap, { metadata: { namespace: 'shop', name, labels: { team, count } } });

  it('accepts any string as key, and reads caches with their selectors and indexes', async () => {
    const objects = [map('a', 'red'), map('b', 'red'), map('c', 'blue'), map('d', 'red', 'no')];
    await using t = await testController(totals, { objects });
    await t.reconcile('red');
    expect(t.writes).toMatchObject([
      {
        verb: 'create',
        kind: 'Secret',
        key: { namespace: 'shop', name: 'total-red' },
        body: { data: { total: btoa('2') } },
      },
    ]);
    expect(t.events.map(({ regarding }) => regarding?.name)).toEqual(['a', 'b']);
  });

  it('reads objects of its own install by the names that they have in unit tests', async () => {
    const reader = companion(ClusterRole, 'reader').content(() => ({ rules: [] }));
    const seen: string[] = [];
    const roles = keyed('roles')
      .watches(ClusterRole, { fieldSelector: reader.fieldSelector, map: () => [] })
      .reconcile(({ list }) => void seen.push(...list(ClusterRole).map(({ metadata }) => metadata.name)));
    const objects = ['unit-unit-reader', 'other'].map((name) => given(ClusterRole, { metadata: { name } }));
    await using t = await testController(roles, { objects });
    await t.reconcile('any');
    expect(seen).toEqual(['unit-unit-reader']);
  });

  it('works in install namespaces by their ids, or by the names that the test gives them', async () => {
    const work = installNamespace('work', () => 'unused');
    const copies = keyed('copies')
      .watches(ConfigMap, { namespaces: [work.name], map: () => [] })
      .applies(Secret, { namespaces: [work.name] })
      .reconcile(async ({ list, apply }) => {
        for (const { metadata } of list(ConfigMap)) {
          const { namespace, name } = metadata;
          await apply(Secret, { metadata: { namespace, name } }, { labels: { copy: '' } });
        }
      });
    const objects = ['work', 'spire'].map((namespace) => given(ConfigMap, { metadata: { namespace, name: 'a' } }));
    const writtenIn = async (namespaces?: Readonly<Record<string, string>>) => {
      await using t = await testController(copies, { objects, namespaces });
      await t.reconcile('any');
      return t.writes.map(({ key }) => key?.namespace);
    };
    expect(await writtenIn()).toEqual(['work']);
    expect(await writtenIn({ work: 'spire' })).toEqual(['spire']);
  });

  it('sees changes by other clients', async () => {
    await using t = await testController(totals, { objects: [map('a', 'red')] });
    const { kind, object } = map('b', 'red');
    t.put(kind, object);
    await t.delete(ConfigMap, { namespace: 'shop', name: 'a' });
    await t.reconcile('red');
    expect(t.events.map(({ regarding }) => regarding?.name)).toEqual(['b']);
  });
});

describe('an optional source in a unit test', () => {
  const routed = controller(ConfigMap)
    .watches(Site, { optional: true, map: () => [] })
    .reconcile(({ isServed, list, event }) => {
      event('Normal', 'Checked', `${isServed(Site)} ${list(Site).length}`);
    });
  const map = given(ConfigMap, { metadata: key });
  const noted = async (options: Parameters<typeof testController>[1]) => {
    await using t = await testController(routed, options);
    await t.reconcile(key);
    return t.events[0]?.note;
  };

  it('is served, with or without objects, unless the test says otherwise', async () => {
    expect(await noted({ objects: [map] })).toBe('true 0');
    expect(await noted({ objects: [map, site] })).toBe('true 1');
    expect(await noted({ objects: [map], notServed: [Site] })).toBe('false 0');
  });

  it('has no objects while it is not served, and a kind that is needed is always served', async () => {
    const invalid = { code: 'BOWLINE_UNIT_TEST_INVALID' };
    await expect(testController(routed, { objects: [map, site], notServed: [Site] })).rejects.toMatchObject(invalid);
    await expect(testController(routed, { objects: [map], notServed: [ConfigMap] })).rejects.toThrow(
      'ConfigMap cannot be in notServed: configmap needs it; declare its source with optional: true',
    );
    await using t = await testController(routed, { objects: [map], notServed: [Site] });
    expect(() => t.put(Site, site.object as Site)).toThrow(/no Site can exist/);
  });
});
