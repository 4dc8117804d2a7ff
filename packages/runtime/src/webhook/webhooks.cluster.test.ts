import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectClient } from '@bowline/control-plane';
import { type Cluster, cluster } from '@bowline/control-plane/testing';
import {
  ConfigMap,
  CustomResourceDefinition,
  type KubernetesObject,
  MutatingWebhookConfiguration,
  type PolicyRule,
  type Resource,
  resource,
  Secret,
  ValidatingWebhookConfiguration,
} from '@bowline/kubernetes';
import { createCertificateAuthority, issueCertificate } from '@bowline/machinery';
import { expect, it, vi } from 'vitest';
import { acceleratedClock } from '../../../../test/support/fault-proxy/accelerated-clock.ts';
import { Cache } from '../cache/cache.ts';
import type { ApiError } from '../errors/api-error.ts';
import { createLog } from '../observability/create-log.ts';
import { createMetrics } from '../observability/create-metrics.ts';
import type { AdmissionRequest } from './admission-request.ts';
import { admit, admitChanged, admitPatched, deny } from './admission-response.ts';
import { webhookConfigurations } from './configurations.ts';
import { mutating, validating } from './declare.ts';
import { startWebhooks } from './start-webhooks.ts';
import type { Webhook } from './webhook.ts';
import { webhookRules } from './webhook-rules.ts';
import type { WebhooksOptions } from './webhooks-options.ts';

/**
 * The rig acts as the chart: as admin it creates the configurations; the operator, with exactly its rules, writes only
 * `caBundle`.
 */
async function serve(
  c: Cluster,
  webhooks: readonly Webhook[],
  options: Partial<WebhooksOptions> = {},
  further: readonly PolicyRule[] = [],
) {
  const operator = options.operator ?? c.uniqueName('op');
  const namespace = options.namespace ?? (await c.createNamespace('manager'));
  const domain = 'bowline.dev';
  const common = { operator, webhooks, ...options, domain };
  const rules = webhookRules(common);
  const { client } = await c.serviceAccount({
    namespace,
    rules: [...rules.namespaced, ...further],
    clusterRules: rules.cluster,
  });
  const cache = new Cache({ client });
  const stop = new AbortController();
  const caching = cache.run(stop.signal);
  const running = await startWebhooks({
    lingerMs: 0,
    ...common,
    namespace,
    client,
    cache,
    address: '127.0.0.1:0',
    reachedAt: 'loopback',
    signal: stop.signal,
  });
  const end = async (): Promise<void> => {
    stop.abort();
    await Promise.all([caching, running.stopped]);
  };
  c.onDispose(end);
  const { validating, mutating } = webhookConfigurations({
    operator,
    domain,
    webhooks,
    ownNamespace: namespace,
    onlyNamespaces: [c.namespace, namespace],
    address: { url: `https://127.0.0.1:${running.port}` },
  });
  const name = `bowline-${operator}`;
  const install = async <T extends KubernetesObject>(kind: Resource<T>, wanted: T | undefined): Promise<void> => {
    if (!wanted) return;
    c.onDispose(() => c.admin.delete(kind, { name }));
    if (options.configurations !== 'runtime') await c.admin.create(kind, wanted);
  };
  await install(ValidatingWebhookConfiguration, validating);
  await install(MutatingWebhookConfiguration, mutating);
  await running.ready();
  return { ...running, operator, namespace, name, end, validating, mutating };
}

/** untilCalled waits until the API server calls the webhooks: it observes a configuration with its own watch. */
async function untilCalled(refused: () => Promise<unknown>): Promise<ApiError> {
  return await vi.waitFor(
    async () => {
      const error = await refused().then(
        () => undefined,
        (reason: unknown) => reason as ApiError,
      );
      expect(error?.message ?? 'it was admitted').toContain('denied the request');
      return error as ApiError;
    },
    { timeout: 20_000, interval: 50 },
  );
}

const configMap = (c: Cluster, name: string, more: ConfigMap = {}): ConfigMap => ({
  ...more,
  metadata: { namespace: c.namespace, name, ...more.metadata },
});

it('denies with code, reason, causes and message, and never reviews its own namespace', async () => {
  await using c = await cluster();
  const seen: AdmissionRequest<ConfigMap, 'CREATE' | 'UPDATE' | 'DELETE'>[] = [];
  const guard = validating(ConfigMap, { name: 'guard', operations: ['CREATE', 'UPDATE', 'DELETE'] }).handle(
    (request) => {
      seen.push(request);
      if (request.operation === 'DELETE') return admit({ warnings: ['it will be missed'] });
      if (request.object.data?.bad === undefined) return admit();
      return deny({
        message: 'data.bad is reserved; choose another key',
        causes: [{ reason: 'FieldValueInvalid', field: 'data.bad', message: 'reserved' }],
      });
    },
  );
  const { namespace, operator } = await serve(c, [guard]);
  const error = await untilCalled(() => c.admin.create(ConfigMap, configMap(c, 'a', { data: { bad: 'x' } })));
  expect(error).toMatchObject({ status: 422, reason: 'Invalid', causes: [{ field: 'data.bad', message: 'reserved' }] });
  expect(error.message).toContain(
    `admission webhook "guard.${operator}.bowline.dev" denied the request: data.bad is reserved; choose another key`,
  );

  await c.admin.create(ConfigMap, configMap(c, 'b', { data: { good: '1' } }));
  await c.admin.patch(
    ConfigMap,
    { namespace: c.namespace, name: 'b' },
    { type: 'merge', body: { data: { good: '2' } } },
  );
  await c.admin.delete(ConfigMap, { namespace: c.namespace, name: 'b' });
  const [created, updated, deleted] = seen.filter(({ name }) => name === 'b');
  expect(created).toMatchObject({ operation: 'CREATE', object: { data: { good: '1' } }, namespace: c.namespace });
  expect(created?.oldObject).toBeUndefined();
  expect(created?.userInfo.groups).toContain('system:masters');
  expect(updated).toMatchObject({
    operation: 'UPDATE',
    object: { data: { good: '2' } },
    oldObject: { data: { good: '1' } },
  });
  expect(deleted).toMatchObject({ operation: 'DELETE', oldObject: { data: { good: '2' } }, dryRun: false });

  await c.admin.create(ConfigMap, { metadata: { namespace, name: 'own' }, data: { bad: 'x' } });
  expect(seen.some((request) => request.namespace === namespace)).toBe(false);
});

it('mutates by object and by patch, in order, and returns warnings', async () => {
  await using c = await cluster();
  const label = mutating(ConfigMap, { name: 'a-label', operations: ['CREATE'] }).handle(({ object }) =>
    admitChanged(
      { ...object, metadata: { ...object.metadata, labels: { team: 'a' } } },
      { warnings: ['a team was\nchosen'] },
    ),
  );
  const note = mutating(ConfigMap, { name: 'b-note', operations: ['CREATE'] }).handle(({ object }) =>
    admitPatched([
      { op: 'add', path: '/data', value: { ...object.data, saw: object.metadata?.labels?.team ?? 'nobody' } },
    ]),
  );
  const nothing = mutating(ConfigMap, { name: 'c-nothing', operations: ['CREATE'] }).handle(({ object }) => object);
  const gate = validating(ConfigMap, { name: 'gate', operations: ['CREATE'] }).handle(({ object }) =>
    object.data?.saw === 'a' ? admit() : deny('the validating webhook must see the changed object'),
  );
  const { mutating: wanted } = await serve(c, [label, note, nothing, gate]);
  expect(wanted?.webhooks?.map(({ name }) => name.split('.')[0])).toEqual(['a-label', 'b-note', 'c-nothing']);
  const stored = await vi.waitFor(
    async () => {
      const created = await c.admin.create(ConfigMap, configMap(c, c.uniqueName(), { data: { x: '1' } }));
      expect(created.metadata?.labels).toEqual({ team: 'a' });
      return created;
    },
    { timeout: 20_000, interval: 50 },
  );
  expect(stored.data).toEqual({ x: '1', saw: 'a' });
  const logged: string[] = [];
  const log = createLog({ destination: { write: (line: string) => void logged.push(line) } });
  await using user = await connectClient(await c.kubeconfig('admin'), { log });
  await user.create(ConfigMap, configMap(c, c.uniqueName()), { dryRun: true });
  expect(logged.join('')).toContain('"warning":"a team was chosen"');
});

it('reviews dry runs with a client that rejects writes', async () => {
  await using c = await cluster();
  const refused: string[] = [];
  const writing = validating(ConfigMap, {
    name: 'writing',
    operations: ['CREATE'],
    sideEffects: 'NoneOnDryRun',
  }).handle(async ({ dryRun, live, namespace = '', name }) => {
    if (name !== 'asked') return admit();
    await live
      .create(ConfigMap, { metadata: { namespace, name: 'effect' } })
      .catch((error: { code: string }) => refused.push(`${dryRun} ${error.code}`));
    return deny('seen');
  });
  await serve(c, [writing]);
  const asked = configMap(c, 'asked');
  await untilCalled(() => c.admin.create(ConfigMap, asked, { dryRun: true }));
  expect(new Set(refused)).toEqual(new Set(['true BOWLINE_WEBHOOK_SIDE_EFFECT']));
  // Not a dry run: the write is sent, and only RBAC stops it because the webhook's account has no permissions.
  await untilCalled(() => c.admin.create(ConfigMap, asked));
  expect(refused.at(-1)).toBe('false BOWLINE_API_FORBIDDEN');
});

it('reviews only requests that match its conditions and selectors', async () => {
  await using c = await cluster();
  const seen = new Set<string | undefined>();
  const picky = validating(ConfigMap, {
    name: 'picky',
    operations: ['CREATE', 'UPDATE'],
    objectSelector: { matchLabels: { judged: 'yes' } },
    matchConditions: [
      { name: 'changed', expression: "request.operation == 'CREATE' || object.data != oldObject.data" },
    ],
  }).handle(({ name, object }) => {
    seen.add(name);
    return object.data?.state === 'bad' ? deny('bad') : admit();
  });
  await serve(c, [picky]);
  const judged = (name: string, state: string): ConfigMap =>
    configMap(c, name, { metadata: { labels: { judged: 'yes' }, namespace: c.namespace, name }, data: { state } });
  await untilCalled(() => c.admin.create(ConfigMap, judged('bad', 'bad')));
  await c.admin.create(ConfigMap, configMap(c, 'unlabelled', { data: { state: 'bad' } }));
  expect(seen.has('unlabelled')).toBe(false);
  await c.admin.create(ConfigMap, judged('good', 'good'));
  const key = { namespace: c.namespace, name: 'good' };
  seen.clear();
  await c.admin.patch(ConfigMap, key, { type: 'merge', body: { metadata: { annotations: { a: 'b' } } } });
  expect(seen.has('good')).toBe(false);
  await c.admin.patch(ConfigMap, key, { type: 'merge', body: { data: { state: 'better' } } });
  expect(seen.has('good')).toBe(true);
});

it('reads declared kinds from the cache, and gets the return value of setup', async () => {
  await using c = await cluster();
  const namespace = await c.createNamespace('manager');
  const quota = validating(ConfigMap, { name: 'quota', operations: ['CREATE'] })
    .using<{ readonly most: number }>()
    .reads(Secret, { view: 'metadata', namespaces: [namespace], as: 'secrets' })
    .handle(({ list, deps, name }) => {
      if (name === 'early') return admit();
      const count = list('secrets').filter((each) => each.metadata.name?.startsWith('counted')).length;
      return count > deps.most ? deny(`there are ${count}`) : admit();
    });
  const rules: PolicyRule[] = [{ apiGroups: [''], resources: ['secrets'], verbs: ['list', 'watch'] }];
  const { check, operator } = await serve(c, [quota], { namespace, deps: { most: 1 } }, rules);
  expect(check()).toMatchObject({
    name: `webhooks-${operator}`,
    ok: true,
    message: expect.stringContaining('valid until'),
  });
  await c.admin.create(ConfigMap, configMap(c, 'before'));
  for (const name of ['counted-1', 'counted-2']) await c.admin.create(Secret, { metadata: { namespace, name } });
  const error = await untilCalled(() => c.admin.create(ConfigMap, configMap(c, 'after'), { dryRun: true }));
  expect(error.message).toContain('there are 2');
});

it('serves an external certificate and its replacement without a failed admission', async () => {
  await using c = await cluster();
  const Ship = await shipKind(c);
  const folder = await mkdtemp(join(tmpdir(), 'bowline-webhook-'));
  c.onDispose(() => rm(folder, { recursive: true }));
  const authority = await createCertificateAuthority({ commonName: 'given' });
  const put = async (): Promise<void> => {
    const pair = await issueCertificate({ authority, commonName: 'x', ipAddresses: ['127.0.0.1'], usages: ['server'] });
    await writeFile(join(folder, 'tls.crt'), pair.certificatePem);
    // Between the two writes the pair does not match: the previous one stays in use.
    await writeFile(join(folder, 'tls.key'), pair.keyPem);
  };
  await writeFile(join(folder, 'ca.crt'), authority.certificatePem);
  await put();
  const gate = validating(Ship, { name: 'gate', operations: ['CREATE'], failurePolicy: 'Fail' }).handle(({ object }) =>
    object.spec?.mode === 'deny' ? deny('no') : admit(),
  );
  const metrics = createMetrics();
  const certificates = { kind: 'files', folder, inject: true } as const;
  await serve(c, [gate], { certificates, metrics, maxRequestsPerConnection: 1 });
  const ship = (name: string, mode: string) => ({
    apiVersion: `${Ship.group}/v1`,
    kind: 'Ship',
    metadata: { namespace: c.namespace, name },
    spec: { mode },
  });
  await untilCalled(() => c.admin.create(Ship, ship('a', 'deny')));
  const load = underLoad((n) => c.admin.create(Ship, ship(`ship-${n}`, 'sail'), { dryRun: true }));
  for (let n = 2; n < 5; n++) {
    await put();
    await vi.waitFor(async () => expect(await metrics.render()).toContain(`certwatcher_read_certificate_total ${n}`), {
      timeout: 20_000,
    });
  }
  expect(await load.end()).toMatchObject({ failures: [] });
});

interface Ship extends KubernetesObject {
  readonly spec?: { readonly mode?: string };
}

async function shipKind(c: Cluster): Promise<Resource<Ship>> {
  const group = `${c.uniqueName('g')}.example.com`;
  const kind = resource<Ship>()({
    group,
    version: 'v1',
    kind: 'Ship',
    plural: 'ships',
    scope: 'Namespaced',
  });
  const name = `ships.${group}`;
  await c.admin.create(CustomResourceDefinition, {
    metadata: { name },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind: 'Ship', plural: 'ships' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  });
  c.onDispose(() => c.admin.delete(CustomResourceDefinition, { name }));
  await c.until(CustomResourceDefinition, { name }, ({ status }) =>
    (status?.conditions ?? []).some(({ type, status }) => type === 'Established' && status === 'True'),
  );
  return kind;
}

it('applies the failure policy to failed and late responses', async () => {
  await using c = await cluster();
  const Ship = await shipKind(c);
  const act = async (mode: string | undefined, signal: AbortSignal) => {
    if (mode === 'deny') return deny('no');
    if (mode === 'throw') throw new Error('a text that only the log should see');
    if (mode === 'late') await new Promise((resolve) => signal.addEventListener('abort', resolve));
    return admit();
  };
  const options = { operations: ['CREATE'], timeoutSeconds: 1 } as const;
  const strict = validating(Ship, { ...options, name: 'strict', failurePolicy: 'Fail' }).handle(({ object, signal }) =>
    act(object.spec?.mode, signal),
  );
  const lenient = validating(ConfigMap, { ...options, name: 'lenient' }).handle(({ object, signal }) =>
    act(object.data?.mode, signal),
  );
  const { operator, end } = await serve(c, [strict, lenient]);
  const ship = (name: string, mode: string) => ({
    apiVersion: `${Ship.group}/v1`,
    kind: 'Ship',
    metadata: { namespace: c.namespace, name },
    spec: { mode },
  });
  await untilCalled(() => c.admin.create(Ship, ship('a', 'deny')));
  await untilCalled(() => c.admin.create(ConfigMap, configMap(c, 'a', { data: { mode: 'deny' } })));
  const failure = (mode: string) =>
    c.admin.create(Ship, ship('a', mode)).then(
      () => 'admitted',
      (error: ApiError) => error,
    );
  expect(await failure('throw')).toMatchObject({
    status: 500,
    message: expect.stringContaining(`the webhook strict.${operator}.bowline.dev failed; see the operator's log`),
  });
  expect(String(await failure('throw'))).not.toContain('only the log');
  // The API server reports our status 504, not its own timeout: our response arrives before that. On a busy machine it may
  // arrive too late.
  await expect
    .poll(async () => String(await failure('late')), { timeout: 30_000 })
    .toContain('unable to return a response in the time allotted');
  await c.admin.create(ConfigMap, configMap(c, 'thrown', { data: { mode: 'throw' } }));
  await c.admin.create(ConfigMap, configMap(c, 'late', { data: { mode: 'late' } }));
  await end();
  await c.admin.create(ConfigMap, configMap(c, 'stopped'));
  expect(String(await failure('allow'))).toContain('failed calling webhook');
});

it('creates and repairs the configurations where there is no chart', async () => {
  await using c = await cluster();
  const gate = validating(ConfigMap, { name: 'gate', operations: ['CREATE'] }).handle(() => deny('closed'));
  const { name } = await serve(c, [gate], { configurations: 'runtime', onlyNamespaces: [c.namespace] });
  await untilCalled(() => c.admin.create(ConfigMap, configMap(c, 'a')));
  const { metadata, webhooks } = await c.admin.get(ValidatingWebhookConfiguration, { name });
  expect(webhooks?.[0]?.clientConfig.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/op-/);
  const version = metadata?.resourceVersion;
  await c.admin.patch(
    ValidatingWebhookConfiguration,
    { name },
    { type: 'json', body: [{ op: 'replace', path: '/webhooks/0/failurePolicy', value: 'Fail' }] },
  );
  const repaired = await c.until(
    ValidatingWebhookConfiguration,
    { name },
    (now) => now.webhooks?.[0]?.failurePolicy === 'Ignore' && now.metadata?.resourceVersion !== version,
  );
  await c.admin.delete(ValidatingWebhookConfiguration, { name });
  await c.until(ValidatingWebhookConfiguration, { name }, (now) => now.metadata?.uid !== repaired.metadata?.uid);
});

/** How much faster than real time certificates age where they are rotated. */
const SPEED = 4;

it('rotates the certificate without a failed admission, and repairs a damaged Secret', async () => {
  await using c = await cluster();
  const Ship = await shipKind(c);
  const gate = validating(Ship, { name: 'gate', operations: ['CREATE'], failurePolicy: 'Fail' }).handle(({ object }) =>
    object.spec?.mode === 'deny' ? deny('no') : admit(),
  );
  const { operator, namespace } = await serve(c, [gate], {
    // A renewal at least every 2 s of real time. The API server, whose clock is behind, considers certificates valid for longer.
    certificates: { kind: 'managed', leafValidForMs: 12_000, authorityValidForMs: 36_000, propagationMs: 500 * SPEED },
    wire: acceleratedClock(SPEED),
    maxRequestsPerConnection: 1,
  });
  const key = { namespace, name: `${operator}-webhook-tls` };
  const ship = (name: string, mode: string) => ({
    apiVersion: `${Ship.group}/v1`,
    kind: 'Ship',
    metadata: { namespace: c.namespace, name },
    spec: { mode },
  });
  await untilCalled(() => c.admin.create(Ship, ship('a', 'deny')));
  const load = underLoad((n) => c.admin.create(Ship, ship(`ship-${n}`, 'sail'), { dryRun: true }));
  const first = await c.admin.get(Secret, key);
  const renewed = await c.until(Secret, key, ({ data }) => data?.['tls.crt'] !== first.data?.['tls.crt']);
  expect(renewed.data?.['ca.crt']).toBe(first.data?.['ca.crt']);

  const damaged = { ...renewed.data, 'tls.key': Buffer.from('nonsense').toString('base64') };
  await c.admin.update(Secret, { ...(await c.admin.get(Secret, key)), data: damaged });
  await c.until(Secret, key, ({ data }) => data?.['tls.key'] !== damaged['tls.key']);

  await c.admin.delete(Secret, key);
  // Deleting requests new keys: both CAs are trusted before the new one issues.
  const both = await c.until(Secret, key, ({ data }) => data?.['ca-next.key'] !== undefined);
  const rotated = await c.until(
    Secret,
    key,
    ({ data }) => data?.['ca-next.key'] === undefined && data?.['ca.key'] !== first.data?.['ca.key'],
  );
  expect(rotated.data?.['ca.key']).toBe(both.data?.['ca-next.key']);
  const { webhooks } = await c.admin.get(ValidatingWebhookConfiguration, { name: `bowline-${operator}` });
  expect(webhooks?.[0]?.clientConfig.caBundle).toBeDefined();
  const { admitted, failures } = await load.end();
  expect(failures).toEqual([]);
  expect(admitted).toBeGreaterThan(20);
});

/** Two writers, each sending one request after the other, until they are stopped. */
function underLoad(request: (n: number) => Promise<unknown>) {
  const failures: string[] = [];
  let admitted = 0;
  let ending = false;
  let n = 0;
  const writer = async (): Promise<void> => {
    while (!ending) {
      await request(n++).then(
        () => void admitted++,
        (error: unknown) => void failures.push(String(error)),
      );
    }
  };
  const writers = [writer(), writer()];
  return {
    async end() {
      ending = true;
      await Promise.all(writers);
      return { admitted, failures: failures.slice(0, 5) };
    },
  };
}
