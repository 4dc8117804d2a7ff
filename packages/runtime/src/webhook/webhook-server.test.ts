import { Agent, type RequestOptions } from 'node:https';
import { connect as connectTls } from 'node:tls';
import { ConfigMap } from '@bowline/kubernetes';
import { VirtualClock } from '@bowline/machinery';
import { expect, it, vi } from 'vitest';
import { admit, deny } from './answer.ts';
import { validating } from './declare.ts';
import {
  ca,
  cleanUps,
  exchange,
  gate,
  issue,
  leaf,
  otherLeaf,
  review,
  type StartOptions,
  start,
} from './webhook-server.test-support.ts';
import { WebhookServers } from './webhook-servers.ts';

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
  const { send, close, agent } = await start(
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
  const stopped = close();
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
  const { send, close, agent } = await start([gate(() => admit())], { wire });
  await send(review());
  const stopped = close();
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
  const { send, close } = await start([endless], { wire, drainMs: 2_000 });
  const sent = send(review()).catch((error: { code: string }) => error.code);
  await vi.waitFor(() => expect(signal).toBeDefined());
  const stopped = close();
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

it('refuses to serve nowhere', async () => {
  await expect(start([gate(() => admit())], { address: '0' })).rejects.toMatchObject({
    code: 'BOWLINE_ADDRESS_INVALID',
  });
});

/** Two operators behind a Service each, on one listener. */
async function startTwo(options: StartOptions = {}) {
  const servers = new WebhookServers(options);
  const [a, b] = ['a-webhook.sea.svc', 'b-webhook.sea.svc'];
  const shared = { ...options, servers };
  const [first, second] = await Promise.all([
    start([gate(() => deny('by a'))], { ...shared, operator: 'a', names: [a], certificate: await issue(a) }),
    start([gate(() => deny('by b'))], { ...shared, operator: 'b', names: [b], certificate: await issue(b) }),
  ]);
  const ask = (operator: 'a' | 'b', more: RequestOptions = {}) =>
    (operator === 'a' ? first : second).send(review(), {
      path: `/${operator}/gate`,
      servername: operator === 'a' ? a : b,
      ...more,
    });
  return { first, second, servers, ask };
}

it('serves two operators on one listener, each with the certificate that its callers trust', async () => {
  const { first, second, ask } = await startTwo();
  expect(second.port).toBe(first.port);
  expect(await ask('a')).toMatchObject({ status: 200, text: expect.stringContaining('by a') });
  expect(await ask('b')).toMatchObject({ status: 200, text: expect.stringContaining('by b') });

  // One renews its certificate; the other's stays.
  const renewed = await issue('B-webhook.sea.svc');
  second.use(renewed);
  const fresh = () => new Agent({ ca });
  expect(await ask('b', { agent: fresh() })).toMatchObject({ fingerprint: renewed.fingerprint });
  expect((await ask('a', { agent: fresh() })).fingerprint).toBe((await ask('a')).fingerprint);
  await expect(ask('a', { agent: fresh(), servername: 'c-webhook.sea.svc' })).rejects.toMatchObject({
    code: 'ERR_TLS_CERT_ALTNAME_INVALID',
  });
});

it('answers for no operator before it has a certificate, whichever name the caller asked for', async () => {
  const servers = new WebhookServers();
  const { send } = await start([gate(() => admit())], { servers, operator: 'a', names: ['a'] });
  const late = await start([gate(() => admit())], { servers, operator: 'b', names: ['b'], certificate: null });
  expect(await send(review(), { path: '/b/gate' })).toMatchObject({
    status: 503,
    text: expect.stringContaining('not ready'),
  });
  late.use(otherLeaf);
  expect(await send(review(), { path: '/b/gate' })).toMatchObject({ status: 200 });
});

it('goes on with one operator when the other has gone', async () => {
  const wire = new VirtualClock();
  const { first, second, ask } = await startTwo({ wire });
  await ask('a');
  let gone = false;
  const closed = first.close().then(() => {
    gone = true;
  });
  // What was on its way is answered.
  expect(await ask('a')).toMatchObject({ status: 200, connection: 'close' });
  await wire.advance(500);
  await closed;
  expect(gone).toBe(true);
  expect(await ask('b', { path: '/a/gate' })).toMatchObject({
    status: 404,
    text: 'there is no webhook at this path; there is /b/gate\n',
  });
  expect(await ask('b')).toMatchObject({ status: 200 });
  second.agent.destroy();
  await second.close();
  await expect(ask('b', { agent: new Agent({ ca }) })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

it('closes with its last operator when all go at once', async () => {
  // Time stands still: nothing may wait for what does not come.
  const wire = new VirtualClock();
  const { first, second, ask } = await startTwo({ wire });
  await Promise.all([first.close(), second.close()]);
  await expect(ask('a')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

it('keeps hanging handlers of one operator from taking the places of another', async () => {
  const wire = new VirtualClock();
  const servers = new WebhookServers({ wire });
  let hanging = 0;
  const stuck = gate(() => {
    hanging++;
    return new Promise(() => {});
  });
  const a = await start([stuck], { servers, wire, operator: 'a', names: ['a'] });
  const b = await start([gate(() => admit())], { servers, wire, operator: 'b', names: ['b'] });
  const sent = [1, 2, 3].map(() => a.send(review(), { path: '/a/gate' }));
  await vi.waitFor(() => expect(hanging).toBe(2));
  expect(await b.send(review(), { path: '/b/gate' })).toMatchObject({ status: 200 });
  const closed = a.close();
  await wire.advance(5_000);
  expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([503, 503, 503]);
  await closed;
});

it.each<[string, StartOptions, string]>([
  [
    'the same name',
    { names: ['A'] },
    'the operators a and b are both reached at a, where one certificate alone can be shown',
  ],
  ['no name but an address', { names: ['::1'] }, 'are both reached at 127.0.0.1'],
])(
  'refuses a second operator with %s on a fixed port, and gives it another listener otherwise',
  async (_, same, text) => {
    const servers = new WebhookServers();
    const a = await start([gate(() => admit())], { servers, operator: 'a', names: ['a', '127.0.0.1'] });
    const b = await start([gate(() => admit())], { servers, operator: 'b', ...same });
    expect(b.port).not.toBe(a.port);
    const fixed = new WebhookServers();
    const address = `127.0.0.1:${a.port}`;
    await a.close();
    await start([gate(() => admit())], { address, servers: fixed, operator: 'a', names: ['a', '127.0.0.1'] });
    await expect(
      start([gate(() => admit())], { address, servers: fixed, operator: 'b', ...same }),
    ).rejects.toMatchObject({
      code: 'BOWLINE_WEBHOOK_INVALID',
      message: expect.stringContaining(text),
    });
  },
);

it('refuses a second operator with a webhook at the same path', async () => {
  const servers = new WebhookServers();
  const mutate = validating(ConfigMap, { name: 'gate', operations: ['CREATE'], path: '/same' }).handle(() => admit());
  const { port, close } = await start([mutate], { servers, operator: 'a', names: ['a'] });
  await close();
  const address = `127.0.0.1:${port}`;
  await start([mutate], { address, servers, operator: 'a', names: ['a'] });
  await expect(start([mutate], { address, servers, operator: 'b', names: ['b'] })).rejects.toThrow(
    `cannot serve webhooks on ${address}: the operators a and b both have a webhook at /same; give one of them another path`,
  );
});
