import { Agent, type RequestOptions, request } from 'node:https';
import { connect as connectTls } from 'node:tls';
import { ConfigMap } from '@bowline/kubernetes';
import { createCertificateAuthority, issueCertificate, systemClock, VirtualClock } from '@bowline/machinery';
import { afterEach, beforeAll, expect, it, vi } from 'vitest';
import { createClient } from '../client/create-client.ts';
import { ScriptedTransport } from '../client/scripted-transport.test-support.ts';
import { createMetrics } from '../observability/create-metrics.ts';
import { silentLog } from '../observability/log.ts';
import { admit, deny } from './answer.ts';
import type { TlsMaterial } from './certificates/certificate-source.ts';
import { readLeaf } from './certificates/pem.ts';
import { validating } from './declare.ts';
import { WebhookClients } from './dry-run-guard.ts';
import type { Webhook } from './webhook.ts';
import { webhookRoute } from './webhook-route.ts';
import { startWebhookServer, type WebhookServerOptions } from './webhook-server.ts';

let ca = '';
let leaf: TlsMaterial;
let otherLeaf: TlsMaterial;
const cleanUps: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  const authority = await createCertificateAuthority({ commonName: 'test' });
  ca = authority.certificatePem;
  const issue = async (): Promise<TlsMaterial> => {
    const made = await issueCertificate({ authority, commonName: 'x', ipAddresses: ['127.0.0.1'], usages: ['server'] });
    return readLeaf('test', made.certificatePem, made.keyPem);
  };
  [leaf, otherLeaf] = await Promise.all([issue(), issue()]);
});

afterEach(async () => {
  for (const work of cleanUps.splice(0).reverse()) await work();
});

const nowhere = { recordWrite() {}, recordDelete() {} };

async function start(webhooks: readonly Webhook[], options: Partial<WebhookServerOptions> = {}) {
  const stop = new AbortController();
  const metrics = createMetrics();
  const clients = new WebhookClients(createClient({ transport: new ScriptedTransport() }), nowhere);
  const cache = { get: () => undefined, list: () => [] };
  const log = silentLog;
  const server = await startWebhookServer({
    address: '127.0.0.1:0',
    routes: webhooks.map((each) =>
      webhookRoute(each, { operator: 'op', clients, cache, deps: undefined, clock: systemClock, log }),
    ),
    maxBodyBytes: 4096,
    maxInFlight: 2,
    maxRequestsPerConnection: 100,
    drainMs: 5_000,
    wire: systemClock,
    log,
    metrics,
    signal: stop.signal,
    ...options,
  });
  server.use(leaf);
  const agent = new Agent({ keepAlive: true, ca });
  const end = async (): Promise<void> => {
    stop.abort();
    await server.stopped;
  };
  cleanUps.push(end, async () => agent.destroy());
  const send = (body: string | Buffer, more: RequestOptions = {}) => exchange(server.port, agent, body, more);
  return { ...server, send, end, stop, metrics, agent };
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly connection: string | undefined;
  readonly fingerprint: string;
}

function exchange(port: number, agent: Agent, body: string | Buffer, more: RequestOptions): Promise<Answer> {
  const chunked = more.headers !== undefined && 'transfer-encoding' in more.headers;
  const length = chunked ? {} : { 'content-length': Buffer.byteLength(body) };
  const headers = { 'content-type': 'application/json', ...length, ...more.headers };
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, path: '/op/gate', method: 'POST', agent, ...more, headers },
      (response) => {
        const chunks: Buffer[] = [];
        const socket = response.socket as unknown as { getPeerCertificate(): { fingerprint256: string } };
        const { fingerprint256 } = socket.getPeerCertificate();
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            text: Buffer.concat(chunks).toString(),
            connection: response.headers.connection,
            fingerprint: fingerprint256,
          }),
        );
        response.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

const review = (change: object = {}, request: object = {}): string =>
  JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'u-1',
      operation: 'CREATE',
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      userInfo: { username: 'me' },
      object: { metadata: { name: 'a' } },
      name: 'a',
      namespace: 'default',
      ...request,
    },
    ...change,
  });

const gate = (
  handle: () => ReturnType<typeof admit | typeof deny> | Promise<ReturnType<typeof admit>>,
  timeoutSeconds = 10,
) => validating(ConfigMap, { name: 'gate', operations: ['CREATE'], timeoutSeconds }).handle(handle);

it('answers a review with a review of the same uid', async () => {
  const { send } = await start([gate(() => deny('closed'))]);
  const { status, text } = await send(review());
  expect(status).toBe(200);
  expect(JSON.parse(text)).toEqual({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: {
      uid: 'u-1',
      allowed: false,
      status: { status: 'Failure', code: 403, reason: 'Forbidden', message: 'closed' },
    },
  });
});

it.each<[string, string, RequestOptions, number, string]>([
  ['no JSON', '{', {}, 400, 'the body is not JSON'],
  ['nothing', '', {}, 400, 'the body is not JSON'],
  ['an array', '[]', {}, 400, 'not a JSON object'],
  ['another kind', review({ kind: 'Pod' }), {}, 400, 'of kind "Pod", not AdmissionReview'],
  [
    'an old version',
    review({ apiVersion: 'admission.k8s.io/v1beta1' }),
    {},
    400,
    'only admission.k8s.io/v1 is understood',
  ],
  ['no version', review({ apiVersion: undefined }), {}, 400, 'version none'],
  ['an odd version', review({ apiVersion: { a: 1 } }), {}, 400, 'version of type object'],
  ['no request', review({ request: undefined }), {}, 400, 'the review has no request'],
  ['no uid', review({}, { uid: '' }), {}, 400, 'the request has no uid'],
  ['an unknown operation', review({}, { operation: 'EAT' }), {}, 400, `operation "EAT" is unknown`],
  ['no object', review({}, { object: null }), {}, 400, 'the request has no object'],
  ['no old object', review({}, { operation: 'UPDATE' }), {}, 400, 'the request has no oldObject'],
  ['no user', review({}, { userInfo: undefined }), {}, 400, 'the request has no userInfo'],
  ['half a kind', review({}, { kind: { group: '' } }), {}, 400, "the request's kind is incomplete"],
  ['half a resource', review({}, { resource: 'x' }), {}, 400, "the request's resource is incomplete"],
  ['a body too large', review({}, { object: { x: 'x'.repeat(5000) } }), {}, 413, 'larger than 4096 bytes'],
  [
    'a body too large of unknown length',
    review({}, { object: { x: 'x'.repeat(5000) } }),
    { headers: { 'transfer-encoding': 'chunked' } },
    413,
    'larger than 4096 bytes',
  ],
  ['another type', review(), { headers: { 'content-type': 'text/plain' } }, 415, 'must be application/json'],
  ['another method', '', { method: 'GET' }, 405, 'only POST'],
  ['another path', review(), { path: '/op/other' }, 404, 'there is no webhook at this path; there is /op/gate'],
])('refuses %s with a text that says so, and goes on', async (_, body, options, status, text) => {
  const { send } = await start([gate(() => admit())]);
  expect(await send(body, options)).toMatchObject({ status, text: expect.stringContaining(text) });
  expect(await send(review())).toMatchObject({ status: 200 });
});

it('turns what a handler throws into a 500 that says nothing of it', async () => {
  const { send, metrics } = await start([
    gate(() => {
      throw new Error('hunter2');
    }),
  ]);
  expect(await send(review())).toMatchObject({
    status: 500,
    text: "the webhook gate.op.bowline.dev failed; see the operator's log\n",
  });
  const text = await metrics.render();
  expect(text).toContain('controller_runtime_webhook_requests_total{webhook="gate.op.bowline.dev",code="500"} 1');
  expect(text).toContain('controller_runtime_webhook_requests_total{webhook="gate.op.bowline.dev",code="200"} 0');
  expect(text).toContain('controller_runtime_webhook_latency_seconds_count{webhook="gate.op.bowline.dev"} 1');
  expect(text).toContain('controller_runtime_webhook_requests_in_flight{webhook="gate.op.bowline.dev"} 0');
});

it.each([
  ['the declared time', '/op/gate', 9_499, 1],
  ['the time that the caller says', '/op/gate?timeout=2s', 1_899, 1],
  ['the declared time, whatever else the caller says', '/op/gate?timeout=never', 9_499, 1],
])('answers 504 a little before %s is over, and tells the handler', async (_, path, before, rest) => {
  const wire = new VirtualClock();
  let told: AbortSignal | undefined;
  const { send } = await start(
    [
      validating(ConfigMap, { name: 'gate', operations: ['CREATE'] }).handle(
        ({ signal }) =>
          new Promise(() => {
            told = signal;
          }),
      ),
    ],
    { wire },
  );
  const sent = send(review(), { path });
  await vi.waitFor(() => expect(told).toBeDefined());
  await wire.advance(before);
  expect(told?.aborted).toBe(false);
  await wire.advance(rest);
  expect(await sent).toMatchObject({ status: 504, text: expect.stringContaining('did not answer in time') });
  expect(told?.aborted).toBe(true);
});

it('runs no more than allowed at once, and hanging handlers do not stop the others for ever', async () => {
  const wire = new VirtualClock();
  const waiting: (() => void)[] = [];
  let running = 0;
  let most = 0;
  const { send } = await start(
    [
      gate(async () => {
        most = Math.max(most, ++running);
        await new Promise<void>((resolve) => waiting.push(resolve));
        running--;
        return admit();
      }),
    ],
    { wire },
  );
  const sent = [send(review()), send(review()), send(review())];
  await vi.waitFor(() => expect(waiting).toHaveLength(2));
  await wire.advance(100);
  expect(most).toBe(2);
  waiting.shift()?.();
  await vi.waitFor(() => expect(waiting).toHaveLength(2));
  // The time of all is over: both handlers hang on, and yet two more requests find a place.
  await wire.advance(10_000);
  expect((await Promise.all(sent)).map(({ status }) => status).sort()).toEqual([200, 504, 504]);
  const later = [send(review()), send(review())];
  await vi.waitFor(() => expect(waiting).toHaveLength(4));
  expect(most).toBe(4);
  for (const go of waiting.splice(0)) go();
  expect((await Promise.all(later)).map(({ status }) => status)).toEqual([200, 200]);
});

it('serves another certificate from the next handshake on and keeps open connections', async () => {
  const { send, use, port } = await start([gate(() => admit())]);
  expect((await send(review())).fingerprint).toBe(leaf.fingerprint);
  use(otherLeaf);
  expect((await send(review())).fingerprint).toBe(leaf.fingerprint);
  const fresh = new Agent({ ca });
  cleanUps.push(async () => fresh.destroy());
  expect((await exchange(port, fresh, review(), {})).fingerprint).toBe(otherLeaf.fingerprint);
});

it('speaks HTTP/1.1 and no TLS below 1.2', async () => {
  const { port } = await start([gate(() => admit())]);
  const handshake = (options: object): Promise<string> =>
    new Promise((resolve) => {
      const socket = connectTls({ host: '127.0.0.1', port, ca, ...options }, () => {
        resolve(`${socket.getProtocol()} ${socket.alpnProtocol}`);
        socket.destroy();
      });
      socket.on('error', () => resolve('refused'));
    });
  expect(await handshake({ ALPNProtocols: ['h2', 'http/1.1'] })).toBe('TLSv1.3 http/1.1');
  expect(await handshake({ maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' })).toBe(
    'refused',
  );
});

it('closes a connection after its share of requests, with the answer', async () => {
  const { send } = await start([gate(() => admit())], { maxRequestsPerConnection: 2 });
  expect((await send(review())).connection).toBe('keep-alive');
  expect((await send(review())).connection).toBe('close');
  expect((await send(review())).connection).toBe('keep-alive');
});

it('answers what is under way when it stops, takes nothing new and leaves no socket', async () => {
  const wire = new VirtualClock();
  const waiting: (() => void)[] = [];
  const { send, stop, stopped, agent } = await start(
    [
      gate(async () => {
        await new Promise<void>((resolve) => waiting.push(resolve));
        return admit();
      }),
    ],
    { wire },
  );
  const sent = [send(review()), send(review())];
  await vi.waitFor(() => expect(waiting).toHaveLength(2));
  waiting.shift()?.();
  // One connection is idle from here on, the other waits for its answer.
  expect(await sent[0]).toMatchObject({ status: 200, connection: 'keep-alive' });
  stop.abort();
  await vi.waitFor(() =>
    expect(send(review(), { agent: new Agent({ ca }) })).rejects.toMatchObject({ code: 'ECONNREFUSED' }),
  );
  // A request that was on its way over the idle one is still answered.
  const late = send(review());
  await vi.waitFor(() => expect(waiting).toHaveLength(2));
  for (const go of waiting) go();
  expect(await sent[1]).toMatchObject({ status: 200, connection: 'close' });
  expect(await late).toMatchObject({ status: 200, connection: 'close' });
  await stopped;
  expect(Object.keys(agent.freeSockets)).toEqual([]);
});

it('closes connections that stay unused after the stop', async () => {
  const wire = new VirtualClock();
  const { send, stop, stopped, agent } = await start([gate(() => admit())], { wire });
  await send(review());
  stop.abort();
  let ended = false;
  void stopped.then(() => {
    ended = true;
  });
  await wire.advance(499);
  expect([ended, Object.keys(agent.freeSockets).length]).toEqual([false, 1]);
  await wire.advance(1);
  await stopped;
});

it('cuts what does not end when its time to drain is over', async () => {
  const wire = new VirtualClock();
  let signal: AbortSignal | undefined;
  const endless = validating(ConfigMap, { name: 'gate', operations: ['CREATE'] }).handle((request) => {
    signal = request.signal;
    return new Promise(() => {});
  });
  const { send, stop, stopped } = await start([endless], { wire, drainMs: 2_000 });
  const sent = send(review()).catch((error: { code: string }) => error.code);
  await vi.waitFor(() => expect(signal).toBeDefined());
  stop.abort();
  await wire.advance(1_999);
  expect(signal?.aborted).toBe(false);
  await wire.advance(1);
  expect(await sent).toBe('ECONNRESET');
  expect(signal?.aborted).toBe(true);
  await stopped;
});

it('says which address is taken', async () => {
  const { port } = await start([gate(() => admit())]);
  await expect(start([gate(() => admit())], { address: `127.0.0.1:${port}` })).rejects.toMatchObject({
    code: 'BOWLINE_ADDRESS_IN_USE',
  });
});
