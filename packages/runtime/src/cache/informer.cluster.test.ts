import { cluster } from '@bowline/control-plane/testing';
import { ConfigMap, CustomResourceDefinition, type KubernetesObject, Role, resource } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import type { Client } from '../client/client.ts';
import { Cache } from './cache.ts';
import type { Informer } from './informer.ts';
import { project, projectMetadata } from './view.ts';

/** running starts a cache that runs until the test ends. */
function running(client: Client): { cache: Cache } & AsyncDisposable {
  const stop = new AbortController();
  const cache = new Cache({ client, freeze: true });
  const ended = cache.run(stop.signal);
  return {
    cache,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}

/** until resolves when the condition holds after an event of the informer. */
function until<V>(informer: Informer<V>, condition: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const subscription = informer.subscribe(() => {
      if (!condition()) return;
      resolve();
      queueMicrotask(() => subscription[Symbol.dispose]());
    });
    if (condition()) resolve();
  });
}

describe('an informer on a control plane', () => {
  it('streams the initial state, then follows creations, changes and deletions', async () => {
    await using c = await cluster();
    const key = { namespace: c.namespace, name: 'one' };
    await c.admin.create(ConfigMap, { metadata: key, data: { n: '1' } });
    await using run = running(c.admin);
    const informer = run.cache.informer(ConfigMap, { namespaces: [c.namespace] });
    await informer.synced();
    expect(informer.get(key)?.data).toEqual({ n: '1' });
    expect(informer.get(key)?.metadata?.managedFields).toBeUndefined();

    const two = { namespace: c.namespace, name: 'two' };
    await c.admin.create(ConfigMap, { metadata: two });
    await until(informer, () => informer.get(two) !== undefined);
    await c.admin.patch(ConfigMap, key, { type: 'merge', body: { data: { n: '2' } } });
    await until(informer, () => informer.get(key)?.data?.n === '2');
    await c.admin.delete(ConfigMap, key);
    await until(informer, () => informer.get(key) === undefined);
    expect(informer.health()).toMatchObject({ state: 'watching', synced: true, relists: 0, decodeErrors: 0 });
  });

  it('keeps only metadata, projections and labelled objects, as selected by the server', async () => {
    await using c = await cluster();
    const red = { namespace: c.namespace, name: 'red' };
    const blue = { namespace: c.namespace, name: 'blue' };
    await c.admin.create(ConfigMap, { metadata: { ...red, labels: { colour: 'red' } }, data: { n: '1' } });
    await c.admin.create(ConfigMap, { metadata: { ...blue, labels: { colour: 'blue' } }, data: { n: '2' } });
    await using run = running(c.admin);
    const scope = { namespaces: [c.namespace], labelSelector: 'colour' };
    const metadata = run.cache.informer(ConfigMap, { ...scope, view: 'metadata' });
    const sizes = run.cache.informer(ConfigMap, {
      ...scope,
      view: project((object: ConfigMap) => Object.keys(object.data ?? {}).length),
    });
    const colours = run.cache.informer(ConfigMap, {
      ...scope,
      view: projectMetadata((object) => ({ ...object.metadata.labels, keys: Object.keys(object) })),
    });
    const reds = run.cache.informer(ConfigMap, { namespaces: [c.namespace], labelSelector: 'colour=red' });
    const named = run.cache.informer(ConfigMap, { namespaces: [c.namespace], fieldSelector: 'metadata.name=blue' });
    await Promise.all([metadata, sizes, colours, reds, named].map((informer) => informer.synced()));
    expect(metadata.get(red)).toEqual({ metadata: expect.objectContaining({ labels: { colour: 'red' } }) });
    expect(sizes.list()).toEqual([1, 1]);
    expect(colours.get(red)).toEqual({ colour: 'red', keys: ['metadata'] });
    expect(reds.list()).toHaveLength(1);
    expect(named.list()).toHaveLength(1);
    // The object leaves the scope: the server sends a DELETED event.
    await c.admin.patch(ConfigMap, red, { type: 'merge', body: { metadata: { labels: { colour: 'blue' } } } });
    await until(reds, () => reds.list().length === 0);
    const own = await c.admin.patch(ConfigMap, blue, {
      type: 'merge',
      body: { metadata: { labels: { colour: 'x' } } },
    });
    run.cache.recordWrite(ConfigMap, own);
    expect(colours.get(blue)).toEqual({ colour: 'x', keys: ['metadata'] });
  });

  it('shows own writes and deletions immediately', async () => {
    await using c = await cluster();
    await using run = running(c.admin);
    const informer = run.cache.informer(ConfigMap, { namespaces: [c.namespace] });
    await informer.synced();
    for (let count = 0; count < 20; count++) {
      const key = { namespace: c.namespace, name: `own-${count}` };
      const created = await c.admin.create(ConfigMap, { metadata: key });
      run.cache.recordWrite(ConfigMap, created);
      expect(informer.get(key)?.metadata?.resourceVersion).toBe(created.metadata?.resourceVersion);
      const updated = await c.admin.update(ConfigMap, { ...created, data: { n: String(count) } });
      run.cache.recordWrite(ConfigMap, updated);
      expect(informer.get(key)?.data).toEqual({ n: String(count) });
      await c.admin.delete(ConfigMap, key);
      run.cache.recordDelete(ConfigMap, key, { uid: created.metadata?.uid ?? '' });
      expect(informer.get(key)).toBeUndefined();
    }
    await until(informer, () => informer.health().unconfirmedWrites === 0);
  });

  it('reports what is forbidden and recovers when the rule is granted', async () => {
    await using c = await cluster();
    const account = await c.serviceAccount({
      rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }],
    });
    await using run = running(account.client);
    const informer = run.cache.informer(ConfigMap, { namespaces: [c.namespace] });
    await expect.poll(() => informer.health().state).toBe('forbidden');
    expect(informer.health().reason).toContain(`not allowed to read configmaps in namespace ${c.namespace}`);
    expect(informer.hasSynced).toBe(false);
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }];
    await c.admin.patch(Role, account, { type: 'merge', body: { rules } });
    await informer.synced(AbortSignal.timeout(50_000));
    expect(informer.health().state).toBe('watching');
  });

  it('waits for a definition that is installed later, and empties when it is removed', async () => {
    await using c = await cluster();
    const plural = c.uniqueName('widgets').replaceAll('-', '');
    const group = 'cache.bowline.test';
    interface Widget extends KubernetesObject {
      readonly spec?: { readonly size?: number };
    }
    const Widget = resource<Widget>()({
      group,
      version: 'v1',
      kind: `Widget${plural}`,
      plural,
      scope: 'Namespaced',
    });
    await using run = running(c.admin);
    const informer = run.cache.informer(Widget, { namespaces: [c.namespace] });
    await expect.poll(() => informer.health().state).toBe('not-served');

    const name = `${plural}.${group}`;
    await c.admin.create(CustomResourceDefinition, {
      metadata: { name },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural, singular: `${plural}one`, kind: Widget.kind, listKind: `${Widget.kind}List` },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
              },
            },
          },
        ],
      },
    });
    await informer.synced(AbortSignal.timeout(50_000));
    const key = { namespace: c.namespace, name: 'w' };
    await c.admin.create(Widget, { metadata: key, spec: { size: 3 } });
    await until(informer, () => informer.get(key)?.spec?.size === 3);

    await c.admin.delete(CustomResourceDefinition, { name });
    await until(informer, () => informer.list().length === 0);
    await expect.poll(() => informer.health().state).toBe('not-served');
  });
});
