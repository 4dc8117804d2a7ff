import { readFile } from 'node:fs/promises';
import { ConfigMap, Namespace, resource, TokenReview } from '@bowline/kubernetes';
import { seededRandom, VirtualClock } from '@bowline/machinery';
import { expect, test } from 'vitest';
import { type Log, silentLog } from '../observability/log.ts';
import { type Labels, type Metrics, noMetrics } from '../observability/metrics.ts';
import { TransportError } from '../transport/transport-error.ts';
import type { Client } from './client.ts';
import { createClient } from './create-client.ts';
import { type ScriptedResponse, ScriptedTransport } from './scripted-transport.test-support.ts';

const key = { namespace: 'ns', name: 'a' };
const object: ConfigMap = { metadata: key, data: { x: '1' } };
const busy: ScriptedResponse = {
  status: 429,
  headers: { 'retry-after': '2' },
  body: { kind: 'Status', code: 429, reason: 'TooManyRequests', message: 'too many requests' },
};
const lost = new TransportError('BOWLINE_TRANSPORT_CONNECTION_LOST', 'lost', { mayHaveBeenProcessed: true });

test.each<[string, (client: Client) => Promise<unknown>, string, string, unknown?, string?]>([
  ['get', (c) => c.get(ConfigMap, key), 'GET', '/api/v1/namespaces/ns/configmaps/a'],
  [
    'a subresource',
    (c) => c.get(ConfigMap, key, { subresource: 'status' }),
    'GET',
    '/api/v1/namespaces/ns/configmaps/a/status',
  ],
  ['a cluster-scoped get', (c) => c.get(Namespace, { name: 'system:x' }), 'GET', '/api/v1/namespaces/system%3Ax'],
  [
    'list',
    (c) =>
      c.list(ConfigMap, {
        namespace: 'ns',
        labelSelector: 'a in (b,c)',
        limit: 5,
        continue: 'x=',
        resourceVersion: '0',
      }),
    'GET',
    '/api/v1/namespaces/ns/configmaps?labelSelector=a%20in%20(b%2Cc)&resourceVersion=0&limit=5&continue=x%3D',
  ],
  [
    'watch',
    (c) =>
      c.watch(ConfigMap, {
        sendInitialEvents: true,
        resourceVersionMatch: 'NotOlderThan',
        allowWatchBookmarks: true,
        timeoutSeconds: 300,
      }),
    'GET',
    '/api/v1/configmaps?watch=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&sendInitialEvents=true&timeoutSeconds=300',
  ],
  [
    'create',
    (c) => c.create(ConfigMap, object, { dryRun: true, fieldManager: 'me' }),
    'POST',
    '/api/v1/namespaces/ns/configmaps?dryRun=All&fieldManager=me&fieldValidation=Strict',
    { apiVersion: 'v1', kind: 'ConfigMap', ...object },
    'application/json',
  ],
  [
    'update',
    (c) => c.update(ConfigMap, object, { fieldValidation: 'Warn', subresource: 'status' }),
    'PUT',
    '/api/v1/namespaces/ns/configmaps/a/status?fieldValidation=Warn',
    { apiVersion: 'v1', kind: 'ConfigMap', ...object },
    'application/json',
  ],
  [
    'an apply',
    (c) => c.patch(ConfigMap, key, { type: 'apply', body: { data: {} }, force: true }, { fieldManager: 'me' }),
    'PATCH',
    '/api/v1/namespaces/ns/configmaps/a?fieldManager=me&fieldValidation=Strict&force=true',
    { apiVersion: 'v1', kind: 'ConfigMap', data: {} },
    'application/apply-patch+yaml',
  ],
  [
    'a JSON patch',
    (c) => c.patch(ConfigMap, key, { type: 'json', body: [{ op: 'remove', path: '/data/x' }] }),
    'PATCH',
    '/api/v1/namespaces/ns/configmaps/a?fieldValidation=Strict',
    [{ op: 'remove', path: '/data/x' }],
    'application/json-patch+json',
  ],
  [
    'delete',
    (c) => c.delete(ConfigMap, key, { preconditions: { uid: 'u' }, propagationPolicy: 'Foreground', dryRun: true }),
    'DELETE',
    '/api/v1/namespaces/ns/configmaps/a',
    {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      dryRun: ['All'],
      preconditions: { uid: 'u' },
      propagationPolicy: 'Foreground',
    },
    'application/json',
  ],
  ['delete without options', (c) => c.delete(ConfigMap, key), 'DELETE', '/api/v1/namespaces/ns/configmaps/a'],
  [
    'deleteCollection',
    (c) => c.deleteCollection(ConfigMap, { namespace: 'ns', labelSelector: 'a=b' }),
    'DELETE',
    '/api/v1/namespaces/ns/configmaps?labelSelector=a%3Db',
  ],
  ['raw', (c) => c.raw('/version'), 'GET', '/version'],
])('sends %s', async (_, call, method, path, body, contentType) => {
  const transport = new ScriptedTransport({ body: {} });
  await call(createClient({ transport, component: 'tester' }));
  expect(transport.requests[0]).toMatchObject({ method, path });
  expect(transport.requests[0]?.headers).toMatchObject({
    'user-agent': expect.stringMatching(/^bowline\/\S+ \(tester\)$/) as string,
  });
  expect(transport.sent(0)).toEqual(body);
  expect(transport.requests[0]?.headers?.['content-type']).toBe(contentType);
});

test('sends its field manager with every write, unless the write specifies another', async () => {
  const transport = new ScriptedTransport({ body: {} }, { body: {} });
  const client = createClient({ transport, fieldManager: 'me' }).checked(() => undefined);
  await client.patch(ConfigMap, key, { type: 'merge', body: {} });
  await client.create(ConfigMap, object, { fieldManager: 'other' });
  expect(transport.requests.map(({ path }) => /fieldManager=(\w+)/.exec(path)?.[1])).toEqual(['me', 'other']);
});

test.each<[string, (client: Client) => Promise<unknown>]>([
  ['a namespaced object without a namespace', (c) => c.get(ConfigMap, { name: 'a' })],
  ['a cluster-scoped object with a namespace', (c) => c.get(Namespace, key)],
  ['a name that is a path', (c) => c.get(ConfigMap, { namespace: 'ns', name: '../secrets/b' })],
  ['an empty name', (c) => c.delete(ConfigMap, { namespace: 'ns', name: '' })],
  ['an apply without a field manager', (c) => c.patch(ConfigMap, key, { type: 'apply', body: {} })],
  ['a deletion of objects in all namespaces', (c) => c.deleteCollection(ConfigMap)],
])('rejects %s without sending a request', async (_, call) => {
  const transport = new ScriptedTransport();
  await expect(call(createClient({ transport }))).rejects.toMatchObject({ code: 'BOWLINE_CLIENT_INVALID_REQUEST' });
  expect(transport.requests).toHaveLength(0);
});

test('adds kind and apiVersion to list items, which the server omits', async () => {
  const transport = new ScriptedTransport(
    { body: { metadata: { resourceVersion: '9' }, items: [{ metadata: key }] } },
    { body: { items: null } },
  );
  const client = createClient({ transport });
  expect(await client.list(ConfigMap)).toEqual({
    apiVersion: 'v1',
    kind: 'ConfigMapList',
    metadata: { resourceVersion: '9' },
    items: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: key }],
  });
  expect((await client.list(ConfigMap, { metadataOnly: true })).items).toEqual([]);
  expect(transport.requests[1]?.headers?.accept).toContain('as=PartialObjectMetadataList');
});

test('find returns undefined if the object does not exist, but throws if its kind is not served', async () => {
  const absent = {
    kind: 'Status',
    code: 404,
    reason: 'NotFound',
    message: 'not found',
    details: { name: 'a', kind: 'configmaps' },
  };
  const client = createClient({
    transport: new ScriptedTransport({ status: 404, body: absent }, { status: 404, body: '404 page not found\n' }),
  });
  expect(await client.find(ConfigMap, key)).toBeUndefined();
  await expect(client.find(ConfigMap, key)).rejects.toMatchObject({ code: 'BOWLINE_API_KIND_NOT_SERVED' });
});

test('waits as long as Retry-After says and retries the call, including writes', async () => {
  const clock = new VirtualClock();
  const transport = new ScriptedTransport(busy, { ...busy, status: 503 }, { body: object });
  const client = createClient({ transport, clock, random: { next: () => 0 } });
  const created = client.create(ConfigMap, object);
  await clock.advance(1999);
  expect(transport.requests).toHaveLength(1);
  await clock.advance(1);
  expect(transport.requests).toHaveLength(2);
  await clock.advance(2000);
  expect(await created).toEqual(object);
  expect(transport.requests).toHaveLength(3);
  expect(clock.pendingTimers).toBe(0);
});

test('adds jitter to the delay, so that many clients do not retry at the same time', async () => {
  const clock = new VirtualClock();
  const client = createClient({
    transport: new ScriptedTransport(busy, { body: object }),
    clock,
    random: seededRandom(3),
  });
  const read = client.get(ConfigMap, key);
  await clock.advance(0);
  const waitMs = clock.nextDueInMs ?? 0;
  expect(waitMs).toBeGreaterThan(2000);
  expect(waitMs).toBeLessThan(2200);
  await clock.advance(waitMs);
  await read;
});

test('fails immediately with the requested delay when it exceeds the timeout', async () => {
  const transport = new ScriptedTransport(busy);
  const client = createClient({ transport, clock: new VirtualClock(), timeoutMs: 1000 });
  await expect(client.get(ConfigMap, key)).rejects.toMatchObject({
    code: 'BOWLINE_API_TOO_MANY_REQUESTS',
    retryAfterMs: 2000,
  });
  expect(transport.requests).toHaveLength(1);
});

test('stops retrying after ten attempts', async () => {
  const clock = new VirtualClock();
  const now = { ...busy, headers: { 'retry-after': '0' } };
  const transport = new ScriptedTransport(...Array.from({ length: 11 }, () => now));
  const failed = expect(createClient({ transport, clock }).get(ConfigMap, key)).rejects.toMatchObject({ status: 429 });
  await clock.advance(1000);
  await failed;
  expect(transport.requests).toHaveLength(10);
});

test('does not retry a read at a resourceVersion that the server has not reached', async () => {
  const ahead = {
    kind: 'Status',
    code: 504,
    reason: 'Timeout',
    message: 'Too large resource version',
    details: { retryAfterSeconds: 1 },
  };
  const transport = new ScriptedTransport({ status: 504, headers: { 'retry-after': '1' }, body: ahead });
  await expect(createClient({ transport }).list(ConfigMap)).rejects.toMatchObject({
    code: 'BOWLINE_API_TIMEOUT',
    retryAfterMs: 1000,
  });
});

test('does not retry a failure without Retry-After', async () => {
  const transport = new ScriptedTransport({ status: 500, body: 'oops' });
  await expect(createClient({ transport }).get(ConfigMap, key)).rejects.toMatchObject({
    code: 'BOWLINE_API_INTERNAL',
    retryable: true,
  });
});

test('stops waiting when the signal is aborted', async () => {
  const clock = new VirtualClock();
  const abort = new AbortController();
  const read = createClient({ transport: new ScriptedTransport(busy), clock }).get(ConfigMap, key, {
    signal: abort.signal,
  });
  const failed = expect(read).rejects.toThrow('shutting down');
  await clock.advance(0);
  abort.abort(new Error('shutting down'));
  await failed;
  expect(clock.pendingTimers).toBe(0);
});

test('retries a read whose connection was lost twice, and never a write', async () => {
  const reads = new ScriptedTransport({ error: lost }, { error: lost }, { body: object });
  expect(await createClient({ transport: reads }).get(ConfigMap, key)).toEqual(object);
  const broken = new ScriptedTransport({ error: lost }, { error: lost }, { error: lost });
  await expect(createClient({ transport: broken }).get(ConfigMap, key)).rejects.toBe(lost);
  const writes = new ScriptedTransport({ error: lost });
  await expect(createClient({ transport: writes }).patch(ConfigMap, key, { type: 'merge', body: {} })).rejects.toBe(
    lost,
  );
});

test('calls the guard before every attempt of a write, and applies its timeout', async () => {
  const clock = new VirtualClock();
  let calls = 0;
  const guard = {
    writeTimeoutMs: 5000,
    assertMayWrite: () => {
      if (++calls === 2) throw new Error('not the leader');
    },
  };
  const transport = new ScriptedTransport(busy, { body: object });
  const client = createClient({ transport, clock, timeoutMs: 60_000 }).guarded(guard);
  const write = expect(client.update(ConfigMap, object)).rejects.toThrow('not the leader');
  await clock.advance(3000);
  await write;
  expect(transport.requests).toHaveLength(1);
  expect(transport.requests[0]?.timeoutMs).toBe(5000);
});

test('calls every guard, and applies the shortest timeout', async () => {
  const transport = new ScriptedTransport({ body: {} });
  const calls: string[] = [];
  const guard = (name: string, writeTimeoutMs: number) => ({
    assertMayWrite: () => void calls.push(name),
    writeTimeoutMs,
  });
  const client = createClient({ transport }).guarded(guard('first', 700)).guarded(guard('second', 900));
  await client.update(ConfigMap, { metadata: key });
  expect(calls).toEqual(['first', 'second']);
  expect(transport.requests[0]?.timeoutMs).toBe(700);
});

test('calls every check before a request, and sends nothing when one throws', async () => {
  const transport = new ScriptedTransport({ body: {} }, { body: {} });
  const calls: string[] = [];
  const refusal = new Error('no');
  const client = createClient({ transport }).checked(({ verb, path }) => void calls.push(`${verb} ${path}`));
  await client.onLeaseLane().get(ConfigMap, key);
  await client.raw('/version');
  expect(calls).toEqual(['get /api/v1/namespaces/ns/configmaps/a', 'get /version']);
  const refusing = client.checked(() => {
    throw refusal;
  });
  await expect(refusing.checked(() => {}).get(ConfigMap, key)).rejects.toBe(refusal);
  await expect(refusing.watch(ConfigMap)).rejects.toBe(refusal);
  expect(transport.requests).toHaveLength(2);
  expect(calls).toHaveLength(4);
});

test('creates a LocalSubjectAccessReview with local: true', async () => {
  const transport = new ScriptedTransport({ body: { status: { allowed: true } } });
  const client = createClient({ transport });
  const question = { verb: 'get', resource: 'configmaps', namespace: 'ns', name: 'a' };
  expect(await client.canSubject({ user: 'joe' }, question, { local: true })).toEqual({ allowed: true });
  expect(transport.requests[0]?.path).toBe('/apis/authorization.k8s.io/v1/namespaces/ns/localsubjectaccessreviews');
  expect(transport.sent(0)).toEqual({
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'LocalSubjectAccessReview',
    metadata: { namespace: 'ns' },
    spec: { user: 'joe', resourceAttributes: { ...question, group: '' } },
  });
  const everywhere = { verb: 'get', resource: 'configmaps' };
  await expect(client.canSubject({ user: 'joe' }, everywhere, { local: true })).rejects.toMatchObject({
    code: 'BOWLINE_CLIENT_INVALID_REQUEST',
  });
});

test('does not call the guard for reads, reviews and token requests', async () => {
  const guard = {
    writeTimeoutMs: 5000,
    assertMayWrite: () => {
      throw new Error('not the leader');
    },
  };
  const token = { token: 't', expirationTimestamp: '2026-01-01T00:00:00Z' };
  const transport = new ScriptedTransport(
    { body: object },
    { body: { status: { allowed: true } } },
    { body: { status: { allowed: false, reason: 'no rule' } } },
    { body: { status: token } },
    { body: { status: { authenticated: true } } },
  );
  const client = createClient({ transport, timeoutMs: 9000 }).guarded(guard);
  expect(await client.get(ConfigMap, key)).toEqual(object);
  expect(await client.canI({ verb: 'get', resource: 'secrets', namespace: 'ns' })).toEqual({ allowed: true });
  expect(await client.canSubject({ user: 'joe', groups: ['g'] }, { verb: 'get', resource: 'pods' })).toEqual({
    allowed: false,
    reason: 'no rule',
  });
  expect(await client.requestToken(key, { audiences: ['x'], expirationSeconds: 600 })).toEqual(token);
  expect(await client.create(TokenReview, { spec: { token: 't' } })).toEqual({ status: { authenticated: true } });
  await expect(client.create(ConfigMap, { metadata: key })).rejects.toThrow('not the leader');
  expect(transport.requests.map((request) => request.path)).toEqual([
    '/api/v1/namespaces/ns/configmaps/a',
    '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    '/api/v1/namespaces/ns/serviceaccounts/a/token',
    '/apis/authentication.k8s.io/v1/tokenreviews?fieldValidation=Strict',
  ]);
  expect(transport.sent(1)).toMatchObject({
    spec: { resourceAttributes: { verb: 'get', group: '', resource: 'secrets', namespace: 'ns' } },
  });
  expect(transport.requests[1]?.timeoutMs).toBe(9000);
});

test('sends requests on its lane and with its impersonated user', async () => {
  const transport = new ScriptedTransport({ body: object }, { body: object });
  const client = createClient({ transport, impersonate: { user: 'jane' } });
  await client.get(ConfigMap, key);
  await client.onLeaseLane().get(ConfigMap, key);
  expect(transport.requests.map(({ lane, impersonate }) => [lane, impersonate?.user])).toEqual([
    ['call', 'jane'],
    ['lease', 'jane'],
  ]);
  await client.close();
  expect(transport.closed).toBe(true);
});

test('logs each warning of the server once', async () => {
  const warned: unknown[] = [];
  const log: Log = { ...silentLog, warn: (_message, fields) => warned.push(fields?.warning) };
  const sent = '299 - "v1 Thing is deprecated", 299 - "unknown field \\"spec.ключ\\""';
  // As Node returns the bytes of a header.
  const warning = Buffer.from(sent).toString('latin1');
  const transport = new ScriptedTransport(
    { body: object, headers: { warning } },
    { body: object, headers: { warning } },
  );
  const client = createClient({ transport, log });
  await client.get(ConfigMap, key);
  await client.get(ConfigMap, key);
  expect(warned).toEqual(['v1 Thing is deprecated', 'unknown field "spec.ключ"']);
});

test('counts requests, retries and sizes under the metric names of client-go', async () => {
  const counted: string[] = [];
  const record =
    (name: string) =>
    (labels?: Labels, amount = 1) => {
      if (amount > 0) counted.push(`${name} ${JSON.stringify(labels)}`);
    };
  const metrics: Metrics = {
    ...noMetrics,
    counter: ({ name }) => ({ add: record(name) }),
    histogram: ({ name }) => ({ observe: (_value, labels) => record(name)(labels) }),
  };
  const clock = new VirtualClock();
  const transport = new ScriptedTransport({ ...busy, headers: { 'retry-after': '0' } }, { status: 201, body: object });
  const created = createClient({ transport, clock, metrics }).create(ConfigMap, object);
  await clock.advance(1);
  await created;
  const verb = '{"verb":"POST","host":"scripted"}';
  expect(counted.sort()).toEqual(
    [
      `rest_client_request_duration_seconds ${verb}`,
      `rest_client_request_duration_seconds ${verb}`,
      'rest_client_request_retries_total {"code":"429","verb":"POST","host":"scripted"}',
      `rest_client_request_size_bytes ${verb}`,
      'rest_client_requests_total {"code":"201","method":"POST","host":"scripted"}',
      'rest_client_requests_total {"code":"429","method":"POST","host":"scripted"}',
      `rest_client_response_size_bytes ${verb}`,
      `rest_client_response_size_bytes ${verb}`,
    ].sort(),
  );
});

test('sends the version of the package in its User-Agent', async () => {
  const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  const transport = new ScriptedTransport({ body: object });
  await createClient({ transport }).get(ConfigMap, key);
  expect(transport.requests[0]?.headers?.['user-agent']).toBe(`bowline/${version} (runtime)`);
});

test('reports a response that is not JSON', async () => {
  const transport = new ScriptedTransport({ body: '<html>login</html>' });
  await expect(createClient({ transport }).get(ConfigMap, key)).rejects.toMatchObject({
    code: 'BOWLINE_API_BAD_RESPONSE',
  });
});

test('uses /apis for kinds with an API group', async () => {
  const transport = new ScriptedTransport({ body: {} });
  const Widget = resource({
    group: 'example.com',
    version: 'v1',
    kind: 'Widget',
    plural: 'widgets',
    scope: 'Namespaced',
  });
  await createClient({ transport }).get(Widget, key);
  expect(transport.requests[0]?.path).toBe('/apis/example.com/v1/namespaces/ns/widgets/a');
});

test.each<[string, (client: Client) => Promise<unknown>]>([
  // The request would create the object itself.
  [
    'a subresource of an object without a name',
    (c) => c.create(ConfigMap, { metadata: { namespace: 'ns' } }, { subresource: 'x' }),
  ],
  ['an empty subresource', (c) => c.get(ConfigMap, key, { subresource: '' })],
  ['a subresource that leads to another object', (c) => c.get(ConfigMap, key, { subresource: 'proxy/../../b' })],
  ['a subresource with a query', (c) => c.get(ConfigMap, key, { subresource: 'log?x' })],
])('rejects %s without sending it', async (_, call) => {
  const transport = new ScriptedTransport({ body: {} });
  await expect(call(createClient({ transport }))).rejects.toMatchObject({ code: 'BOWLINE_CLIENT_INVALID_REQUEST' });
  expect(transport.requests).toEqual([]);
});

test('cannot use another token on a transport that does not support it', () => {
  const client = createClient({ transport: new ScriptedTransport() });
  expect(() => client.withToken('t')).toThrow('does not implement withCredentials');
});
