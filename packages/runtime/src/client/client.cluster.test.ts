import { type Cluster, cluster } from '@bowline/control-plane/testing';
import { ConfigMap, CustomResourceDefinition, Deployment, Namespace, resource } from '@bowline/kubernetes';
import { describe, expect, test } from 'vitest';
import { isAlreadyExists, isConflict, isInvalid } from '../errors/api-error.ts';
import { parseKubeconfig } from '../kubeconfig/kubeconfig.ts';
import { connectionFrom } from '../kubeconfig/load-kubeconfig.ts';
import { type Log, silentLog } from '../observability/log.ts';
import { connect, type TransportOptions } from '../transport/connect.ts';
import type { Client, WatchEvent } from './client.ts';
import { type ClientOptions, createClient } from './create-client.ts';

/** clientOf returns an admin client with its own settings. */
async function clientOf(
  c: Cluster,
  options: Partial<ClientOptions> = {},
  wire: TransportOptions = {},
): Promise<Client> {
  const config = connectionFrom(await parseKubeconfig(JSON.stringify(await c.kubeconfig('admin')), 'the rig'));
  const client = createClient({ ...options, transport: connect(config, wire) });
  c.onDispose(() => client.close());
  return client;
}

function keyIn(c: Cluster, name: string): { namespace: string; name: string } {
  return { namespace: c.namespace, name };
}

describe('every verb on a control plane', () => {
  test('creates, reads, updates and deletes', async () => {
    await using c = await cluster();
    const key = keyIn(c, 'a');
    const created = await c.admin.create(ConfigMap, { metadata: key, data: { text: 'über \u{1F680}' } });
    expect(created).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', data: { text: 'über \u{1F680}' } });
    expect(await c.admin.get(ConfigMap, key)).toEqual(created);
    const updated = await c.admin.update(ConfigMap, { ...created, data: { text: 'b' } });
    expect(await c.admin.update(ConfigMap, created).catch(isConflict)).toBe(true);
    expect(await c.admin.create(ConfigMap, { metadata: key }).catch(isAlreadyExists)).toBe(true);
    expect(updated.metadata?.resourceVersion).not.toBe(created.metadata?.resourceVersion);
    expect(await c.admin.delete(ConfigMap, key)).toMatchObject({ kind: 'Status', status: 'Success' });
    expect(await c.admin.find(ConfigMap, key)).toBeUndefined();
  });

  test('returns the name generated from generateName', async () => {
    await using c = await cluster();
    const created = await c.admin.create(ConfigMap, { metadata: { namespace: c.namespace, generateName: 'made-' } });
    expect(created.metadata?.name).toMatch(/^made-.+/);
  });

  test('supports all four patch types', async () => {
    await using c = await cluster();
    const key = keyIn(c, 'web');
    const labels = { app: 'web' };
    const container = { name: 'one', image: 'example.test/one' };
    await c.admin.create(Deployment, {
      metadata: key,
      spec: {
        replicas: 0,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [container] } },
      },
    });
    const containers = async (): Promise<unknown> =>
      (await c.admin.get(Deployment, key)).spec?.template?.spec?.containers?.map(({ name }) => name);
    const two = { spec: { template: { spec: { containers: [{ name: 'two', image: 'example.test/two' }] } } } };
    await c.admin.patch(Deployment, key, { type: 'strategic', body: two });
    expect(await containers()).toEqual(['two', 'one']);
    await c.admin.patch(Deployment, key, { type: 'merge', body: two });
    expect(await containers()).toEqual(['two']);
    const body = [{ op: 'replace', path: '/spec/template/spec/containers/0/name', value: 'three' }] as const;
    await c.admin.patch(Deployment, key, { type: 'json', body });
    expect(await containers()).toEqual(['three']);

    const apply = { type: 'apply', body: { spec: { replicas: 0, paused: true } } } as const;
    const applied = await c.admin.patch(Deployment, key, apply, { fieldManager: 'me' });
    expect(applied.spec?.paused).toBe(true);
    const disputed = { type: 'apply', body: { spec: { replicas: 1 } } } as const;
    const conflict: unknown = await c.admin
      .patch(Deployment, key, disputed, { fieldManager: 'other' })
      .catch((error: unknown) => error);
    expect(conflict).toMatchObject({
      code: 'BOWLINE_API_CONFLICT',
      causes: expect.arrayContaining([expect.objectContaining({ field: '.spec.replicas' })]) as unknown,
    });
    const forced = await c.admin.patch(Deployment, key, { ...disputed, force: true }, { fieldManager: 'other' });
    expect(forced.spec?.replicas).toBe(1);
  });

  test('rejects unknown fields by default, and names them', async () => {
    await using c = await cluster();
    const log: unknown[] = [];
    const warn: Log = { ...silentLog, warn: (_message, fields) => log.push(fields?.warning) };
    const client = await clientOf(c, { log: warn });
    const odd = { metadata: keyIn(c, 'odd'), dta: { a: 'b' } } as ConfigMap;
    await expect(client.create(ConfigMap, odd)).rejects.toThrow('unknown field "dta"');
    await client.create(ConfigMap, { ...odd, 日本: 1 } as ConfigMap, { fieldValidation: 'Warn' });
    expect(log).toEqual(['unknown field "dta"', 'unknown field "日本"']);
  });

  test('stores nothing on a dry run', async () => {
    await using c = await cluster();
    const key = keyIn(c, 'dry');
    expect(await c.admin.create(ConfigMap, { metadata: key }, { dryRun: true })).toMatchObject({ metadata: key });
    expect(await c.admin.find(ConfigMap, key)).toBeUndefined();
    const kept = await c.admin.create(ConfigMap, { metadata: key, data: { a: '1' } });
    await c.admin.patch(ConfigMap, key, { type: 'merge', body: { data: { a: '2' } } }, { dryRun: true });
    await c.admin.delete(ConfigMap, key, { dryRun: true });
    expect(await c.admin.get(ConfigMap, key)).toEqual(kept);
  });

  test('deletes only an object that matches the preconditions, and returns one that still has finalizers', async () => {
    await using c = await cluster();
    const key = keyIn(c, 'guarded');
    const { metadata } = await c.admin.create(ConfigMap, { metadata: { ...key, finalizers: ['example.com/hold'] } });
    const uid = metadata?.uid ?? '';
    expect(await c.admin.delete(ConfigMap, key, { preconditions: { uid: 'another' } }).catch(isConflict)).toBe(true);
    expect(
      await c.admin.delete(ConfigMap, key, { preconditions: { uid, resourceVersion: '1' } }).catch(isConflict),
    ).toBe(true);
    const dying = await c.admin.delete(ConfigMap, key, { preconditions: { uid } });
    expect(dying).toMatchObject({ kind: 'ConfigMap', metadata: { deletionTimestamp: expect.any(String) as string } });
    await c.admin.patch(ConfigMap, key, { type: 'merge', body: { metadata: { finalizers: null } } });
    expect(await c.admin.find(ConfigMap, key)).toBeUndefined();
  });

  test('lists by selector, page by page, and as metadata only', async () => {
    await using c = await cluster();
    const names = ['a', 'b', 'c', 'd', 'e'];
    for (const name of names) {
      await c.admin.create(ConfigMap, {
        metadata: { ...keyIn(c, name), labels: { half: name < 'c' ? 'first' : 'second' } },
        data: { x: 'y' },
      });
    }
    const selected = await c.admin.list(ConfigMap, { namespace: c.namespace, labelSelector: 'half=second' });
    expect(selected.items.map(({ metadata }) => metadata?.name)).toEqual(['c', 'd', 'e']);
    expect(selected.items[0]).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' });
    const one = await c.admin.list(ConfigMap, { namespace: c.namespace, fieldSelector: 'metadata.name=b' });
    expect(one.items).toHaveLength(1);

    const paged: (string | undefined)[] = [];
    let position: string | undefined;
    do {
      const page = await c.admin.list(ConfigMap, {
        namespace: c.namespace,
        limit: 2,
        continue: position,
        labelSelector: 'half',
        metadataOnly: true,
      });
      expect(page.items.length).toBeLessThanOrEqual(2);
      expect(page.items.every((item) => item.data === undefined && item.kind === 'ConfigMap')).toBe(true);
      paged.push(...page.items.map(({ metadata }) => metadata?.name));
      position = page.metadata.continue;
    } while (position);
    expect(paged).toEqual(names);
    await expect(c.admin.list(ConfigMap, { namespace: c.namespace, continue: 'nonsense' })).rejects.toMatchObject({
      status: 400,
    });
  });

  test('deletes a collection by selector', async () => {
    await using c = await cluster();
    for (const name of ['a', 'b', 'c']) {
      await c.admin.create(ConfigMap, {
        metadata: { ...keyIn(c, name), labels: { keep: name === 'b' ? 'yes' : 'no' } },
      });
    }
    await c.admin.deleteCollection(ConfigMap, { namespace: c.namespace, labelSelector: 'keep=no' });
    const left = await c.admin.list(ConfigMap, { namespace: c.namespace, labelSelector: 'keep' });
    expect(left.items.map(({ metadata }) => metadata?.name)).toEqual(['b']);
  });

  test('watches the initial events, their end and later events, with whole objects and metadata only', async () => {
    await using c = await cluster();
    await c.admin.create(ConfigMap, { metadata: keyIn(c, 'early'), data: { a: 'b' } });
    const abort = new AbortController();
    for (const metadataOnly of [false, true]) {
      const stream = await c.admin.watch(ConfigMap, {
        namespace: c.namespace,
        fieldSelector: 'metadata.name!=kube-root-ca.crt',
        sendInitialEvents: true,
        resourceVersionMatch: 'NotOlderThan',
        allowWatchBookmarks: true,
        metadataOnly,
        signal: abort.signal,
      });
      const events = stream[Symbol.asyncIterator]();
      const read = async (): Promise<WatchEvent<ConfigMap>> => {
        const { value } = (await events.next()) as IteratorYieldResult<WatchEvent<ConfigMap>>;
        return value;
      };
      // After the initial events, a server may send a bookmark between any two other events.
      const next = async (): Promise<WatchEvent<ConfigMap>> => {
        const event = await read();
        if (event.type !== 'BOOKMARK') return event;
        expect(event.object.metadata?.annotations?.['k8s.io/initial-events-end']).toBeUndefined();
        return next();
      };
      const first = await read();
      expect(first).toMatchObject({
        type: 'ADDED',
        object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'early' } },
      });
      expect(first.object.data).toEqual(metadataOnly ? undefined : { a: 'b' });
      const bookmark = await read();
      expect(bookmark).toMatchObject({
        type: 'BOOKMARK',
        object: { kind: 'ConfigMap', metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } },
      });
      const late = keyIn(c, 'late');
      await c.admin.create(ConfigMap, { metadata: late });
      expect(await next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'late' } } });
      await c.admin.patch(ConfigMap, late, { type: 'merge', body: { data: { n: '1' } } });
      expect((await next()).type).toBe('MODIFIED');
      await c.admin.delete(ConfigMap, late);
      expect((await next()).type).toBe('DELETED');
      await events.return?.();
    }
    abort.abort();
  });

  test('ends a watch without an error when the server ends it', async () => {
    await using c = await cluster();
    await c.admin.create(ConfigMap, { metadata: keyIn(c, 'a') });
    const stream = await c.admin.watch(ConfigMap, {
      namespace: c.namespace,
      fieldSelector: 'metadata.name=a',
      timeoutSeconds: 1,
    });
    const types: string[] = [];
    for await (const { type } of stream) types.push(type);
    expect(types).toEqual(['ADDED']);
  });

  test('opens more watches than fit on one connection, without delaying calls', async () => {
    await using c = await cluster();
    const abort = new AbortController();
    const watches = await Promise.all(
      Array.from({ length: 170 }, () =>
        c.admin.watch(ConfigMap, { namespace: c.namespace, resourceVersion: '0', signal: abort.signal }),
      ),
    );
    await c.admin.create(ConfigMap, { metadata: keyIn(c, 'seen') });
    await Promise.all(
      watches.map(async (stream) => {
        for await (const { object } of stream) if (object.metadata?.name === 'seen') return;
      }),
    );
    abort.abort();
  });

  test('reads and writes subresources of a custom resource', async () => {
    await using c = await cluster();
    const group = `${c.uniqueName('g')}.example.com`;
    interface Widget {
      readonly metadata?: ConfigMap['metadata'];
      readonly spec?: { readonly replicas: number };
      readonly status?: { readonly ready: boolean };
    }
    const Widget = resource<Widget>()({
      group,
      version: 'v1',
      kind: 'Widget',
      plural: 'widgets',
      scope: 'Namespaced',
    });
    const any = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const;
    const name = `widgets.${group}`;
    c.onDispose(() => c.admin.delete(CustomResourceDefinition, { name }));
    await expect(c.admin.list(Widget)).rejects.toMatchObject({ code: 'BOWLINE_API_KIND_NOT_SERVED' });
    await c.admin.create(CustomResourceDefinition, {
      metadata: { name },
      spec: {
        group,
        scope: 'Namespaced',
        names: { kind: 'Widget', plural: 'widgets', singular: 'widget', listKind: 'WidgetList' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', properties: { spec: any, status: any } } },
            subresources: {
              status: {},
              scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
            },
          },
        ],
      },
    });
    await c.until(
      CustomResourceDefinition,
      { name },
      (crd) => crd.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True') ?? false,
    );
    const key = keyIn(c, 'w');
    await c.admin.create(Widget, { metadata: key, spec: { replicas: 3 }, status: { ready: true } });
    expect((await c.admin.get(Widget, key)).status).toBeUndefined();
    await c.admin.patch(Widget, key, { type: 'merge', body: { status: { ready: true } } }, { subresource: 'status' });
    expect((await c.admin.get(Widget, key)).status).toEqual({ ready: true });
    expect(await c.admin.get(Widget, key, { subresource: 'scale' })).toMatchObject({
      kind: 'Scale',
      spec: { replicas: 3 },
    });
    await expect(c.admin.patch(Widget, key, { type: 'strategic', body: {} })).rejects.toMatchObject({
      code: 'BOWLINE_API_UNSUPPORTED_MEDIA_TYPE',
    });
    const invalid = await c.admin
      .create(ConfigMap, { metadata: keyIn(c, 'Not A Name') })
      .catch((error: unknown) => error);
    expect(isInvalid(invalid) && invalid.causes.map(({ field }) => field)).toEqual(['metadata.name']);
  });

  test('issues tokens that authenticate a client as the ServiceAccount', async () => {
    await using c = await cluster();
    const account = await c.serviceAccount({
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] }],
    });
    const issued = await c.admin.requestToken(account, { expirationSeconds: 600 });
    expect(Date.parse(issued.expirationTimestamp)).toBeGreaterThan(0);
    const question = { verb: 'list', resource: 'configmaps', namespace: c.namespace };
    expect(await account.client.canI(question)).toMatchObject({ allowed: true });
    expect(await account.client.canI({ ...question, verb: 'delete' })).toMatchObject({ allowed: false });
    const subject = {
      user: `system:serviceaccount:${c.namespace}:${account.name}`,
      groups: ['system:serviceaccounts'],
    };
    expect(await c.admin.canSubject(subject, question)).toMatchObject({ allowed: true });
    expect(await c.admin.canSubject(subject, { ...question, resource: 'secrets' })).toMatchObject({ allowed: false });
  });

  test('impersonates another user with groups', async () => {
    await using c = await cluster();
    const jane = await clientOf(c, { impersonate: { user: 'jane', groups: ['dev', 'system:masters'] } });
    expect((await jane.get(Namespace, { name: c.namespace })).metadata?.name).toBe(c.namespace);
    const joe = await clientOf(c, { impersonate: { user: 'joe', groups: ['dev'] } });
    await expect(joe.get(Namespace, { name: c.namespace })).rejects.toThrow(
      'User "joe" cannot get resource "namespaces"',
    );
  });

  test('completes a burst of more calls than may be in flight, and reads raw paths', async () => {
    await using c = await cluster();
    const client = await clientOf(c, {}, { maxInFlight: 8 });
    await Promise.all(
      Array.from({ length: 100 }, (_, index) => client.create(ConfigMap, { metadata: keyIn(c, `burst-${index}`) })),
    );
    const { items } = await client.list(ConfigMap, { namespace: c.namespace });
    expect(items.filter(({ metadata }) => metadata?.name?.startsWith('burst-'))).toHaveLength(100);
    expect(JSON.parse(await client.raw('/version'))).toMatchObject({ major: '1' });
  });
});
