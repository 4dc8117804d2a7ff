import { randomInt } from 'node:crypto';
import { Agent, type RequestOptions } from 'node:https';
import { connect as connectTls } from 'node:tls';
import { ConfigMap } from '@bowline/kubernetes';
import { VirtualClock } from '@bowline/machinery';
import { expect, it, vi } from 'vitest';
import { admit, deny } from './admission-response.ts';
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

/**
 * A connection to a closed server is refused. It is reset if another thread starts a process at that moment: the new
 * process has a copy of the listening socket until it executes its program, so that the kernel still accepts connections.
 */
const CLOSED = { code: expect.stringMatching(/^ECONN(?:REFUSED|RESET)$/) };

it('responds to a review with a review of the same uid', async () => {
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
    'only admission.k8s.io/v1 is supported',
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
  ['another path', review(), { path: '/op/other' }, 404, 'no webhook is served at this path; served are /op/gate'],
])('rejects %s with a message about it, and continues', async (_, body, options, status, text) => {
  const { send } = await start([gate(() => admit())]);
  expect(await send(body, options)).toMatchObject({ status, text: expect.stringContaining(text) });
  expect(await send(review())).toMatchObject({ status: 200 });
});

it('converts an error thrown by a handler to a 500 that does not quote it', async () => {
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
  ['the declared timeout', '/op/gate', 9_499, 1],
  ['the timeout of the caller', '/op/gate?timeout=2s', 1_899, 1],
  ['the declared timeout, if that of the caller is invalid', '/op/gate?timeout=never', 9_499, 1],
])('responds with 504 a little before %s, and aborts the signal of the handler', async (_, path, before, rest) => {
  const wire = new VirtualClock();
  let notified: AbortSignal | undefined;
  const { send } = await start(
    [
      validating(ConfigMap, { name: 'gate', operations: ['CREATE'] }).handle(
        ({ signal }) =>
          new Promise(() => {
            notified = signal;
          }),
      ),
    ],
    { wire },
  );
  const sent = send(review(), { path });
  await vi.waitFor(() => expect(notified).toBeDefined());
  await wire.advance(before);
  expect(notified?.aborted).toBe(false);
  await wire.advance(rest);
  expect(await sent).toMatchObject({ status: 504, text: expect.stringContaining('did not respond in time') });
  expect(notified?.aborted).toBe(true);
});

it('limits concurrent reviews, and hanging handlers do not block the others forever', async () => {
  const wire = new VirtualClock();
  const waiting: (() => void)[] = [];
  let running = 0;
  let maximum = 0;
  const { send } = await start(
    [
      gate(async () => {
        maximum = Math.max(maximum, ++running);
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
  expect(maximum).toBe(2);
  waiting.shift()?.();
  await vi.waitFor(() => expect(waiting).toHaveLength(2));
  // All timeouts have passed: both handlers still hang, but two more requests get a slot.
  await wire.advance(10_000);
  expect((await Promise.all(sent)).map(({ status }) => status).sort()).toEqual([200, 504, 504]);
  const later = [send(review()), send(review())];
  await vi.waitFor(() => expect(waiting).toHaveLength(4));
  expect(maximum).toBe(4);
  for (const go of waiting.splice(0)) go();
  expect((await Promise.all(later)).map(({ status }) => status)).toEqual([200, 200]);
});

it('serves a new certificate from the next handshake on and keeps open connections', async () => {
  const { send, use, port } = await start([gate(() => admit())]);
  expect((await send(review())).fingerprint).toBe(leaf.fingerprint);
  use(otherLeaf);
  expect((await send(review())).fingerprint).toBe(leaf.fingerprint);
  const fresh = new Agent({ ca });
  cleanUps.push(async () => fresh.destroy());
  expect((await exchange(port, fresh, review(), {})).fingerprint).toBe(otherLeaf.fingerprint);
});

it('uses HTTP/1.1 and no TLS below 1.2', async () => {
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

it('closes a connection with the response after its maximum number of requests', async () => {
  const { send } = await start([gate(() => admit())], { maxRequestsPerConnection: 2 });
  expect((await send(review())).connection).toBe('keep-alive');
  expect((await send(review())).connection).toBe('close');
  expect((await send(review())).connection).toBe('keep-alive');
});

it('completes active requests when it stops, accepts no new ones and leaves no socket', async () => {
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
  // From here on one connection is idle; the other waits for its response.
  expect(await sent[0]).toMatchObject({ status: 200, connection: 'keep-alive' });
  const stopped = close();
  await expect(send(review(), { agent: new Agent({ ca }) })).rejects.toMatchObject(CLOSED);
  // A request already sent on the idle connection is still served.
  const late = send(review());
  await vi.waitFor(() => expect(waiting).toHaveLength(2));
  for (const go of waiting) go();
  expect(await sent[1]).toMatchObject({ status: 200, connection: 'close' });
  expect(await late).toMatchObject({ status: 200, connection: 'close' });
  await stopped;
  expect(Object.keys(agent.freeSockets)).toEqual([]);
});

it.each([500, 0])('closes connections that stay unused for %i ms after the stop', async (lingerMs) => {
  const wire = new VirtualClock();
  const { send, close, agent } = await start([gate(() => admit())], { wire, lingerMs });
  await send(review());
  const stopped = close();
  let ended = false;
  void stopped.then(() => {
    ended = true;
  });
  if (lingerMs > 0) await wire.advance(lingerMs - 1);
  expect([ended, Object.keys(agent.freeSockets).length]).toEqual([false, 1]);
  await wire.advance(lingerMs > 0 ? 1 : 0);
  await stopped;
});

it('cancels requests that have not ended after the drain timeout', async () => {
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

it('reports which address is in use', async () => {
  const { port } = await start([gate(() => admit())]);
  await expect(start([gate(() => admit())], { address: `127.0.0.1:${port}` })).rejects.toMatchObject({
    code: 'BOWLINE_ADDRESS_IN_USE',
  });
});

it('rejects an empty address', async () => {
  await expect(start([gate(() => admit())], { address: '0' })).rejects.toMatchObject({
    code: 'BOWLINE_ADDRESS_INVALID',
  });
});

/** An address with a port below the range from which the system chooses: no listener of another test is given it. */
function fixedAddress(): string {
  return `127.0.0.1:${randomInt(20_000, 30_000)}`;
}

/** Two operators with one Service each, on one listener. */
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

it('serves two operators on one listener, each with its own certificate', async () => {
  const { first, second, ask } = await startTwo();
  expect(second.port).toBe(first.port);
  expect(await ask('a')).toMatchObject({ status: 200, text: expect.stringContaining('by a') });
  expect(await ask('b')).toMatchObject({ status: 200, text: expect.stringContaining('by b') });

  // One renews its certificate; that of the other stays.
  const renewed = await issue('B-webhook.sea.svc');
  second.use(renewed);
  const fresh = () => new Agent({ ca });
  expect(await ask('b', { agent: fresh() })).toMatchObject({ fingerprint: renewed.fingerprint });
  expect((await ask('a', { agent: fresh() })).fingerprint).toBe((await ask('a')).fingerprint);
  await expect(ask('a', { agent: fresh(), servername: 'c-webhook.sea.svc' })).rejects.toMatchObject({
    code: 'ERR_TLS_CERT_ALTNAME_INVALID',
  });
});

it('serves no operator before it has a certificate, whichever name the caller requests', async () => {
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

it('keeps serving one operator after the other has closed', async () => {
  const wire = new VirtualClock();
  const { first, second, ask } = await startTwo({ wire });
  await ask('a');
  let gone = false;
  const closed = first.close().then(() => {
    gone = true;
  });
  // A request already sent is still served.
  expect(await ask('a')).toMatchObject({ status: 200, connection: 'close' });
  await wire.advance(500);
  await closed;
  expect(gone).toBe(true);
  expect(await ask('b', { path: '/a/gate' })).toMatchObject({
    status: 404,
    text: 'no webhook is served at this path; served are /b/gate\n',
  });
  expect(await ask('b')).toMatchObject({ status: 200 });
  second.agent.destroy();
  await second.close();
  await expect(ask('b', { agent: new Agent({ ca }) })).rejects.toMatchObject(CLOSED);
});

it('closes with its last operator when all close at once', async () => {
  // The clock does not advance: nothing may wait for a timer.
  const wire = new VirtualClock();
  const { first, second, ask } = await startTwo({ wire });
  await Promise.all([first.close(), second.close()]);
  await expect(ask('a')).rejects.toMatchObject(CLOSED);
});

it('keeps hanging handlers of one operator from taking the slots of another', async () => {
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
    'the operators a and b are both called at a, where only one certificate can be served',
  ],
  ['no name but an address', { names: ['::1'] }, 'are both called at 127.0.0.1'],
])('rejects a second operator with %s on a fixed port, and uses another listener otherwise', async (_, same, text) => {
  const servers = new WebhookServers();
  const a = await start([gate(() => admit())], { servers, operator: 'a', names: ['a', '127.0.0.1'] });
  const b = await start([gate(() => admit())], { servers, operator: 'b', ...same });
  expect(b.port).not.toBe(a.port);
  const fixed = new WebhookServers();
  const address = fixedAddress();
  await start([gate(() => admit())], { address, servers: fixed, operator: 'a', names: ['a', '127.0.0.1'] });
  await expect(start([gate(() => admit())], { address, servers: fixed, operator: 'b', ...same })).rejects.toMatchObject(
    {
      code: 'BOWLINE_WEBHOOK_INVALID',
      message: expect.stringContaining(text),
    },
  );
});

it('rejects a second operator with a webhook at the same path', async () => {
  const servers = new WebhookServers();
  const mutate = validating(ConfigMap, { name: 'gate', operations: ['CREATE'], path: '/same' }).handle(() => admit());
  const address = fixedAddress();
  await start([mutate], { address, servers, operator: 'a', names: ['a'] });
  await expect(start([mutate], { address, servers, operator: 'b', names: ['b'] })).rejects.toThrow(
    `cannot serve webhooks on ${address}: the operators a and b both have a webhook at /same; choose another path for one of them`,
  );
});
