import { type Cluster, cluster } from '@bowline/control-plane/testing';
import {
  ConfigMap,
  Deployment,
  type KubernetesObject,
  keyOf,
  LimitRange,
  Service,
  ValidatingWebhookConfiguration,
} from '@bowline/kubernetes';
import { describe, expect, test } from 'vitest';
import { Cache } from '../cache/cache.ts';
import { appliedView } from './applied-view.ts';
import { informerLookup } from './informer-lookup.ts';
import { ObservedClient } from './observed-client.test-support.ts';
import { createWriter, type Writer, type WriterOptions } from './writer.ts';

const MANAGER = 'bowline-test-apply';
const labels = { 'test.bowline.dev/owner': 'apply' };

/** setUp returns an owner and a writer whose requests are recorded. */
async function setUp(c: Cluster, options: Partial<WriterOptions> = {}) {
  const client = new ObservedClient(c.admin);
  const object = await c.admin.create(ConfigMap, { metadata: { namespace: c.namespace, name: 'owner' } });
  const owner = { resource: ConfigMap, object };
  const writer = createWriter({ client, fieldManager: MANAGER, ownership: { owner }, ...options });
  return { client, owner, writer };
}

/** restarted returns a writer that remembers nothing. */
function restarted(client: ObservedClient, options: Partial<WriterOptions>): Writer {
  return createWriter({ client, fieldManager: MANAGER, ...options });
}

function deployment(c: Cluster, image = 'example.test/web'): Deployment {
  const app = { app: 'web' };
  return {
    metadata: { namespace: c.namespace, name: 'web', labels: app },
    spec: {
      replicas: 0,
      selector: { matchLabels: app },
      template: {
        metadata: { labels: app },
        spec: { containers: [{ name: 'web', image, resources: { limits: { cpu: '1000m' } } }] },
      },
    },
  };
}

describe('apply with dryRun', () => {
  test('returns what a write would do, stores nothing, and sends no request if nothing would change', async () => {
    await using c = await cluster();
    const { client, writer } = await setUp(c);
    const only = { dryRun: true };
    expect(await writer.apply(Deployment, deployment(c), only)).toMatchObject({ outcome: 'created' });
    expect(await c.admin.find(Deployment, keyOf(deployment(c)))).toBeUndefined();

    const { object: stored } = await writer.apply(Deployment, deployment(c));
    expect(await writer.apply(Deployment, deployment(c, 'example.test/other'), only)).toMatchObject({
      outcome: 'configured',
    });
    const { metadata, spec } = await c.admin.get(Deployment, keyOf(deployment(c)));
    expect([metadata?.generation, spec?.template]).toEqual([stored.metadata?.generation, stored.spec?.template]);

    client.verbs();
    expect(await writer.apply(Deployment, deployment(c), only)).toMatchObject({ outcome: 'unchanged' });
    expect(client.verbs()).not.toContain('apply');
  });

  test('fails as the write would', async () => {
    await using c = await cluster();
    const { writer } = await setUp(c);
    const { metadata, spec } = deployment(c);
    const invalid = { metadata, spec: { ...spec, selector: { matchLabels: { other: 'label' } } } } as Deployment;
    await expect(writer.apply(Deployment, invalid, { dryRun: true })).rejects.toMatchObject({
      code: 'BOWLINE_API_INVALID',
    });
    await c.admin.create(Deployment, deployment(c));
    await expect(writer.apply(Deployment, deployment(c), { dryRun: true })).rejects.toMatchObject({
      code: 'BOWLINE_FOREIGN_OBJECT',
    });
  });
});

describe('apply', () => {
  test('creates an object with its owner and field manager in one request, and does not write it again', async () => {
    await using c = await cluster();
    const { client, owner, writer } = await setUp(c);
    const created = await writer.apply(Deployment, deployment(c));
    expect(created.outcome).toBe('created');
    expect(client.verbs()).toBe('find apply');
    expect(created.object.metadata?.ownerReferences).toEqual([
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name: 'owner',
        uid: owner.object.metadata?.uid,
        controller: true,
        blockOwnerDeletion: true,
      },
    ]);
    expect(created.object.metadata?.managedFields?.map(({ manager }) => manager)).toContain(MANAGER);
    expect((await writer.apply(Deployment, deployment(c))).outcome).toBe('unchanged');
    expect((await restarted(client, { ownership: { owner } }).apply(Deployment, deployment(c))).outcome).toBe(
      'unchanged',
    );
    expect(client.verbs()).toBe('find find');
  });

  test('sends no request with a cache that keeps our managed fields, also after a restart', async () => {
    await using c = await cluster();
    const { client, owner, writer } = await setUp(c);
    await writer.apply(Deployment, deployment(c));
    client.verbs();
    const stop = new AbortController();
    const cache = new Cache({ client: c.admin });
    const informer = cache.informer(Deployment, {
      view: appliedView<Deployment>('bowline-test-'),
      namespaces: [c.namespace],
    });
    const running = cache.run(stop.signal);
    await informer.synced();
    const lookup = informerLookup([informer]);
    const later = restarted(client, { ownership: { owner }, lookup });
    expect((await later.apply(Deployment, deployment(c))).outcome).toBe('unchanged');
    expect(client.verbs()).toBe('');
    expect((await later.apply(Deployment, deployment(c, 'example.test/web:2'))).outcome).toBe('configured');
    expect(client.verbs()).toMatch(/^apply( find apply)?$/);
    stop.abort();
    await running;
  });

  test('reads once after a restart when the cache keeps too little, and not again', async () => {
    await using c = await cluster();
    const { client, owner, writer } = await setUp(c);
    const child: ConfigMap = { metadata: { namespace: c.namespace, name: 'child' }, data: { a: '1' } };
    await writer.apply(ConfigMap, child);
    client.verbs();
    const stop = new AbortController();
    const cache = new Cache({ client: c.admin });
    const informer = cache.informer(ConfigMap, { view: 'metadata', namespaces: [c.namespace] });
    const running = cache.run(stop.signal);
    await informer.synced();
    const later = restarted(client, { ownership: { owner }, lookup: informerLookup([informer]) });
    expect((await later.apply(ConfigMap, child)).outcome).toBe('unchanged');
    expect((await later.apply(ConfigMap, child)).outcome).toBe('unchanged');
    expect(client.verbs()).toBe('find');
    stop.abort();
    await running;
  });

  test('removes fields that are no longer desired, reverts changes by others, and keeps fields of others', async () => {
    await using c = await cluster();
    const { client, writer } = await setUp(c);
    const wanted: ConfigMap = { metadata: { namespace: c.namespace, name: 'child' }, data: { a: '1', b: '2' } };
    await writer.apply(ConfigMap, wanted);
    await c.admin.patch(ConfigMap, keyOf(wanted), { type: 'merge', body: { data: { a: 'other', more: 'theirs' } } });
    const { outcome, object } = await writer.apply(ConfigMap, { ...wanted, data: { a: '1' } });
    expect(outcome).toBe('configured');
    expect(object.data).toEqual({ a: '1', more: 'theirs' });
    client.verbs();
  });

  test('preserves cluster IP, node ports and CA bundles that others fill in', async () => {
    await using c = await cluster();
    const { client, owner, writer } = await setUp(c);
    const service = (port: number): Service => ({
      metadata: { namespace: c.namespace, name: 'web' },
      spec: {
        type: 'NodePort',
        selector: { app: 'web' },
        ports: [
          { name: 'a', port, targetPort: 1 },
          { name: 'b', port: 2 },
        ],
      },
    });
    const { object: before } = await writer.apply(Service, service(1));
    const { object: after } = await writer.apply(Service, service(3));
    expect(after.spec?.clusterIP).toBe(before.spec?.clusterIP);
    const nodePort = (name: string, object: Service) =>
      object.spec?.ports?.find((port) => port.name === name)?.nodePort;
    expect(nodePort('b', after)).toBe(nodePort('b', before));
    expect((await writer.apply(Service, service(3))).outcome).toBe('unchanged');

    const webhooks = (path: string): ValidatingWebhookConfiguration => ({
      metadata: { name: `${c.namespace}-webhook` },
      webhooks: [
        {
          name: 'a.bowline.dev',
          clientConfig: { service: { namespace: c.namespace, name: 'web', path } },
          rules: [
            { apiGroups: ['none.bowline.dev'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['things'] },
          ],
          failurePolicy: 'Ignore',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    });
    const cluster_ = createWriter({ client, fieldManager: MANAGER, ownership: { owner, labels } });
    await cluster_.apply(ValidatingWebhookConfiguration, webhooks('/a'));
    c.onDispose(() => c.admin.delete(ValidatingWebhookConfiguration, keyOf(webhooks('/a'))));
    await c.admin.patch(ValidatingWebhookConfiguration, keyOf(webhooks('/a')), {
      type: 'json',
      body: [{ op: 'add', path: '/webhooks/0/clientConfig/caBundle', value: Buffer.from('ca').toString('base64') }],
    });
    expect((await cluster_.apply(ValidatingWebhookConfiguration, webhooks('/a'))).outcome).toBe('unchanged');
    const { object } = await cluster_.apply(ValidatingWebhookConfiguration, webhooks('/b'));
    expect(object.webhooks?.[0]?.clientConfig).toMatchObject({ caBundle: 'Y2E=', service: { path: '/b' } });
  });

  test('rejects an object that is not ours and reports its owner', async () => {
    await using c = await cluster();
    const { client, writer } = await setUp(c);
    const child = { metadata: { namespace: c.namespace, name: 'child' } };
    await c.admin.create(ConfigMap, { ...child, data: { a: 'theirs' } }, { fieldManager: 'somebody' });
    await expect(writer.apply(ConfigMap, { ...child, data: { a: '1' } })).rejects.toMatchObject({
      code: 'BOWLINE_FOREIGN_OBJECT',
      message: `cannot apply ConfigMap ${c.namespace}/child: it exists and is not ours (written by somebody); delete or rename it`,
    });
    expect(client.verbs()).toBe('find');
    expect((await c.admin.get(ConfigMap, keyOf(child))).data).toEqual({ a: 'theirs' });
  });

  test('rejects an object that is created just before the write', async () => {
    await using c = await cluster();
    const { client, writer } = await setUp(c);
    const child = { metadata: { namespace: c.namespace, name: 'child' } };
    client.before('patch', () => c.admin.create(ConfigMap, { ...child, data: { a: 'theirs' } }));
    await expect(writer.apply(ConfigMap, { ...child, data: { a: '1' } })).rejects.toMatchObject({
      code: 'BOWLINE_FOREIGN_OBJECT',
    });
    expect(client.verbs()).toBe('find apply find');
    expect((await c.admin.get(ConfigMap, keyOf(child))).data).toEqual({ a: 'theirs' });
  });

  test('rejects an object with another controller, even if it has our labels', async () => {
    await using c = await cluster();
    const { owner, client } = await setUp(c);
    const writer = createWriter({ client, fieldManager: MANAGER, ownership: { owner, labels } });
    const other = await c.admin.create(ConfigMap, { metadata: { namespace: c.namespace, name: 'other' } });
    const reference = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: 'other',
      uid: other.metadata?.uid ?? '',
      controller: true,
    };
    const child = { metadata: { namespace: c.namespace, name: 'child', labels, ownerReferences: [reference] } };
    await c.admin.create(ConfigMap, child);
    await expect(
      writer.apply(ConfigMap, { metadata: { namespace: c.namespace, name: 'child' } }),
    ).rejects.toMatchObject({
      code: 'BOWLINE_FOREIGN_OBJECT',
      message: expect.stringContaining('owned by ConfigMap other') as unknown,
    });
  });

  test('checks again when the object changes between check and write, and does not touch one that is no longer ours', async () => {
    await using c = await cluster();
    const { client, writer } = await setUp(c);
    const child: ConfigMap = { metadata: { namespace: c.namespace, name: 'child' }, data: { a: '1' } };
    await writer.apply(ConfigMap, child);
    client.verbs();
    const touch = () => c.admin.patch(ConfigMap, keyOf(child), { type: 'merge', body: { data: { b: 'theirs' } } });
    client.before('patch', touch);
    expect((await writer.apply(ConfigMap, { ...child, data: { a: '2' } })).object.data).toEqual({
      a: '2',
      b: 'theirs',
    });
    expect(client.verbs()).toBe('find apply find apply');
    const transferOwnership = { type: 'merge', body: { metadata: { ownerReferences: null } } } as const;
    client.before('patch', () => c.admin.patch(ConfigMap, keyOf(child), transferOwnership));
    await expect(writer.apply(ConfigMap, { ...child, data: { a: '3' } })).rejects.toMatchObject({
      code: 'BOWLINE_FOREIGN_OBJECT',
    });
  });

  test('recreates an object that is deleted between check and write', async () => {
    await using c = await cluster();
    const { client, writer } = await setUp(c);
    const child: ConfigMap = { metadata: { namespace: c.namespace, name: 'child' }, data: { a: '1' } };
    await writer.apply(ConfigMap, child);
    client.verbs();
    client.before('patch', () => c.admin.delete(ConfigMap, keyOf(child)));
    expect((await writer.apply(ConfigMap, { ...child, data: { a: '2' } })).outcome).toBe('created');
    expect(client.verbs()).toBe('find apply find apply');
  });

  test('does not write for an owner that was recreated meanwhile', async () => {
    await using c = await cluster();
    const { client, owner, writer } = await setUp(c);
    const child: ConfigMap = { metadata: { namespace: c.namespace, name: 'child' } };
    await writer.apply(ConfigMap, child);
    client.verbs();
    const former = { ...owner.object, metadata: { ...owner.object.metadata, uid: 'the-one-before' } };
    const behind = restarted(client, { ownership: { owner: { resource: ConfigMap, object: former } } });
    await expect(behind.apply(ConfigMap, { ...child, data: { a: '1' } })).rejects.toMatchObject({
      code: 'BOWLINE_OWNER_STALE',
      retryable: true,
    });
    expect(client.verbs()).toBe('find find');
  });

  test('does not write to an object that is being deleted', async () => {
    await using c = await cluster();
    const { client, writer } = await setUp(c);
    const child: ConfigMap = {
      metadata: { namespace: c.namespace, name: 'child', finalizers: ['test.bowline.dev/keep'] },
    };
    await writer.apply(ConfigMap, child);
    await c.admin.delete(ConfigMap, keyOf(child));
    client.verbs();
    expect((await writer.apply(ConfigMap, { ...child, data: { a: '1' } })).outcome).toBe('terminating');
    expect(client.verbs()).toBe('find');
    await c.admin.patch(ConfigMap, keyOf(child), { type: 'merge', body: { metadata: { finalizers: null } } });
  });

  test('does not rewrite values that the server always completes', async () => {
    await using c = await cluster();
    const { client, owner, writer } = await setUp(c);
    // Here defaults are derived from max, inside an atomic list: nothing in the stored object distinguishes them.
    const limits: LimitRange = {
      metadata: { namespace: c.namespace, name: 'limits' },
      spec: { limits: [{ type: 'Container', max: { cpu: '1' } }] },
    };
    await writer.apply(LimitRange, limits);
    client.verbs();
    expect((await writer.apply(LimitRange, limits)).outcome).toBe('unchanged');
    expect(client.verbs()).toBe('find');
    const other = { ...limits, spec: { limits: [{ type: 'Container', max: { cpu: '2' } }] } };
    expect((await writer.apply(LimitRange, other)).outcome).toBe('configured');
    const { outcome, object } = await writer.apply(LimitRange, limits);
    expect(outcome).toBe('configured');
    client.verbs();

    // The new writer has no record of the desired object: it sends one apply, and nothing is stored.
    const later = restarted(client, { ownership: { owner } });
    const again = await later.apply(LimitRange, limits);
    expect(again.outcome).toBe('unchanged');
    expect(again.object.metadata?.resourceVersion).toBe(object.metadata?.resourceVersion);
    expect(client.verbs()).toBe('find apply');
    expect((await later.apply(LimitRange, limits)).outcome).toBe('unchanged');
    expect(client.verbs()).toBe('find');
  });

  test('two concurrent writers of one field manager create one object', async () => {
    await using c = await cluster();
    const { client, owner } = await setUp(c);
    const child: ConfigMap = { metadata: { namespace: c.namespace, name: 'child' }, data: { a: '1' } };
    const results = await Promise.all(
      Array.from({ length: 8 }, () => restarted(client, { ownership: { owner } }).apply(ConfigMap, child)),
    );
    expect(new Set(results.map(({ object }: { object: KubernetesObject }) => object.metadata?.uid)).size).toBe(1);
    expect(results.filter(({ outcome }) => outcome === 'created')).toHaveLength(1);
  });
});
