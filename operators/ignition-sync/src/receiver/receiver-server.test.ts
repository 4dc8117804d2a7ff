import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type IncomingHttpHeaders, request } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCertificateAuthority, issueCertificate } from '@bowline/machinery';
import { silentLog } from '@bowline/runtime/manager';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { CR_ANNOTATIONS } from '../api/names.ts';
import { BODY_TIMEOUT_MS, MAX_BODY_BYTES } from './read-body.ts';
import {
  COMMIT,
  HMAC,
  OWN,
  type ReceiverWorld,
  receiverWorld,
  secretOf,
  signed,
  sync,
  TOKEN,
  type WorldOptions,
} from './receiver.test-support.ts';
import { runReceiver } from './run-receiver.ts';

const cleanUps: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const work of cleanUps.splice(0).reverse()) await work();
});

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

interface Send {
  readonly method?: string;
  readonly path?: string;
  /** Signed with it. Defaults to HMAC. Null: not signed. */
  readonly secret?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Receiver extends ReceiverWorld {
  readonly port: number;
  /** stop aborts the receiver and resolves when it has ended. */
  stop(): Promise<void>;
  send(body: unknown, options?: Send): Promise<Reply>;
}

async function serve(options: WorldOptions = {}, certificateFolder?: string): Promise<Receiver> {
  const world = receiverWorld(options);
  const { handler, clock } = world;
  const controller = new AbortController();
  const ports: number[] = [];
  const readiness: (() => { ok: boolean })[] = [];
  const running = runReceiver(
    controller.signal,
    { handler, host: '127.0.0.1', port: 0, certificateFolder, clock, log: silentLog },
    { listensOn: (port) => ports.push(port), readiness: (check) => readiness.push(check) },
  );
  const stop = async (): Promise<void> => {
    controller.abort();
    await running;
  };
  cleanUps.push(stop);
  expect(readiness[0]?.().ok).toBe(false);
  await vi.waitFor(() => expect(ports).toHaveLength(1), { interval: 1 });
  expect(readiness[0]?.().ok).toBe(true);
  const [port = 0] = ports;
  return { ...world, port, stop, send: (body, send) => sendTo(port, body, send) };
}

function sendTo(port: number, body: unknown, options: Send = {}, ca?: string): Promise<Reply> {
  const { method = 'POST', path = '/webhook/plant/site', secret = HMAC, headers = {} } = options;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const signature = secret === null ? {} : { 'x-hub-signature-256': `sha256=${signed(text, secret)}` };
  const all = { 'content-length': String(Buffer.byteLength(text)), ...signature, ...headers };
  const target = { host: '127.0.0.1', port, method, path, headers: all, agent: false };
  return new Promise((resolve, reject) => {
    const sent = ca === undefined ? request(target) : tlsRequest({ ...target, ca });
    sent.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const received = Buffer.concat(chunks).toString();
        const { statusCode: status = 0 } = response;
        resolve({ status, headers: response.headers, body: received === '' ? undefined : JSON.parse(received) });
      });
    });
    sent.on('error', reject);
    sent.end(method === 'GET' || method === 'HEAD' ? undefined : text);
  });
}

/** A connection on which a test writes bytes itself. */
function raw(port: number): { socket: Socket; text: () => string } {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString();
  });
  socket.on('error', () => undefined);
  cleanUps.push(() => Promise.resolve(socket.destroy()));
  return { socket, text: () => received };
}

const refused = (message: string) => ({ accepted: false, message });
const PUSH = { 'x-github-event': 'push' };
const pushed = (branch = 'main', commit = COMMIT) => ({ ref: `refs/heads/${branch}`, after: commit });

describe('the receiver accepts', () => {
  it.each<[string, unknown, Readonly<Record<string, string>>, string]>([
    ['a release', { action: 'published', release: { tag_name: 'v2' } }, { 'x-github-event': 'release' }, 'github'],
    ['a tag', { ref: 'refs/tags/v2', after: COMMIT }, { 'x-gitlab-event': 'Tag Push Hook' }, 'gitlab'],
    ['a created tag', { ref: 'v2', ref_type: 'tag' }, { 'x-gitea-event': 'create' }, 'gitea'],
    [
      'a tag of Bitbucket',
      { push: { changes: [{ new: { type: 'tag', name: 'v2' } }] } },
      { 'x-event-key': 'repo:push' },
      'bitbucket',
    ],
    ['Argo CD', { app: { metadata: { annotations: { 'git.ref': 'v2' } } } }, {}, 'argocd'],
    ['Kargo', { freight: { commits: [{ tag: 'v2' }] } }, {}, 'kargo'],
    ['another ref', { ref: 'v2' }, {}, 'generic'],
  ])('%s, and requests its ref', async (_, body, headers, source) => {
    const { send, written, counts } = await serve();
    const { status, body: reply, headers: received } = await send(body, { headers });
    expect([status, reply]).toEqual([202, { accepted: true, ref: 'v2' }]);
    expect(received['content-type']).toBe('application/json');
    expect(written).toEqual([
      {
        [CR_ANNOTATIONS.requestedRef]: 'v2',
        [CR_ANNOTATIONS.requestedAt]: '2026-01-01T00:00:00Z',
        [CR_ANNOTATIONS.requestedBy]: source,
      },
    ]);
    expect(counts.get(`${source} 202`)).toBe(1);
  });

  it('the push of the branch that is synced, and requests its commit', async () => {
    const { send, written } = await serve();
    const { status, body } = await send(pushed(), { headers: PUSH });
    expect([status, body]).toEqual([202, { accepted: true, ref: 'main' }]);
    expect(written).toEqual([
      { [CR_ANNOTATIONS.requestedCommit]: COMMIT, [CR_ANNOTATIONS.requestedAt]: '2026-01-01T00:00:00Z' },
    ]);
  });

  it.each([200, 202] as const)('the same ref or commit again with %d, and writes nothing', async (status) => {
    const { send, written } = await serve({ acceptDuplicatesWith: status });
    await send(pushed(), { headers: PUSH });
    const commit = await send(pushed(), { headers: PUSH });
    expect([commit.status, commit.body]).toEqual([status, { accepted: true, ref: 'main', message: 'ref already set' }]);
    await send({ ref: 'v2' });
    const ref = await send({ ref: 'refs/tags/v2' });
    expect([ref.status, ref.body]).toEqual([status, { accepted: true, ref: 'v2', message: 'ref already set' }]);
    expect(written).toHaveLength(2);
  });

  it('requests with the bearer token, the token of GitLab, and the secret of the IgnitionSync', async () => {
    const { send, syncs, own } = await serve({ token: TOKEN });
    syncs.set('plant/site', sync({ hasSecret: true }));
    own.set('plant/site', secretOf(OWN));
    for (const [ref, options] of Object.entries<Send>({
      a: { secret: null, headers: { authorization: `Bearer ${TOKEN}` } },
      b: { secret: null, headers: { 'x-gitlab-token': HMAC } },
      c: { secret: OWN },
    }))
      expect(await send({ ref }, options)).toMatchObject({ status: 202, body: { ref } });
  });

  it('concurrent requests', async () => {
    const { send, written } = await serve();
    const replies = await Promise.all(Array.from({ length: 20 }, (_, index) => send({ ref: `v${index}` })));
    expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 202));
    expect(written).toHaveLength(20);
  });
});

describe('the receiver ignores', () => {
  it.each<[string, unknown, Readonly<Record<string, string>>]>([
    ['the push of another branch', pushed('develop'), PUSH],
    ['a deletion', { ...pushed(), deleted: true }, PUSH],
    ['a ping', { zen: 'x' }, { 'x-github-event': 'ping' }],
    ['a draft', { action: 'published', release: { tag_name: 'v2', draft: true } }, { 'x-github-event': 'release' }],
  ])('%s', async (_, body, headers) => {
    const { send, written } = await serve();
    expect(await send(body, { headers })).toMatchObject({
      status: 200,
      body: { accepted: false, message: expect.any(String) as string },
    });
    expect(written).toEqual([]);
  });

  it('a delivery for ten minutes, but not one that failed', async () => {
    let isFailing = true;
    const { send, clock, errors } = await serve({
      annotate: () =>
        isFailing ? Promise.reject(new Error('broken')) : Promise.resolve({ outcome: 'unchanged', ref: 'main' }),
    });
    const headers = { ...PUSH, 'x-github-delivery': 'id-1' };
    expect(await send(pushed(), { headers })).toMatchObject({ status: 500, body: { accepted: false } });
    expect(errors).toEqual(['cannot record a webhook']);
    isFailing = false;
    expect((await send(pushed(), { headers })).body).toMatchObject({ accepted: true });
    const again = await send(pushed(), { headers });
    expect([again.status, again.body]).toEqual([200, refused('already received')]);
    expect((await send(pushed(), { headers: { ...headers, 'x-github-delivery': 'id-2' } })).body).toMatchObject({
      accepted: true,
    });
    await clock.advance(10 * 60_000);
    expect((await send(pushed(), { headers })).body).toMatchObject({ accepted: true });
  });
});

describe('the receiver refuses', () => {
  it.each([
    '/',
    '/webhook',
    '/webhook/plant',
    '/webhook/plant/',
    '/webhook/plant/site/',
    '/webhook/plant/site/x',
    '/webhook/Plant/site',
    '/webhook/plant/%73ite',
    '/webhook//site',
    `/webhook/plant/${'a'.repeat(221)}`,
  ])('the path %s', async (path) => {
    const { send, calls } = await serve();
    expect(await send({ ref: 'v2' }, { path })).toMatchObject({ status: 404, body: refused('not found') });
    expect(calls).toEqual([]);
  });

  it.each(['GET', 'PUT', 'DELETE', 'OPTIONS'])('the method %s', async (method) => {
    const { send } = await serve();
    const { status, headers, body } = await send({ ref: 'v2' }, { method });
    expect([status, headers.allow, body]).toEqual([405, 'POST', refused('send a POST request')]);
    expect(await send({}, { method, path: '/other' })).toMatchObject({ status: 404 });
  });

  it('too many requests of one path, authentic or not, until a minute has passed', async () => {
    const { send, clock, syncs } = await serve({ rateLimit: 2 });
    syncs.set('plant/other', sync());
    expect(await send({ ref: 'v2' }, { secret: 'wrong' })).toMatchObject({ status: 401 });
    await clock.advance(20_000);
    expect(await send({ ref: 'v2' })).toMatchObject({ status: 202 });
    const { status, headers, body } = await send({ ref: 'v3' });
    expect([status, headers['retry-after'], body]).toEqual([429, '40', refused('too many requests')]);
    expect(await send({ ref: 'v3' }, { path: '/webhook/plant/other' })).toMatchObject({ status: 202 });
    await clock.advance(40_000);
    expect(await send({ ref: 'v3' })).toMatchObject({ status: 202 });
  });

  it('a body that is too large, announced or not', async () => {
    const { send, port, calls } = await serve();
    const large = JSON.stringify({ ref: 'v2', x: 'x'.repeat(2 * MAX_BODY_BYTES) });
    const tooLarge = refused(`the body is larger than ${MAX_BODY_BYTES} bytes`);
    expect(await send(large)).toMatchObject({ status: 413, body: tooLarge });
    const { socket, text } = raw(port);
    socket.write('POST /webhook/plant/site HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
    for (let chunk = 0; chunk < 17; chunk++) socket.write(`10000\r\n${'x'.repeat(0x10000)}\r\n`);
    await vi.waitFor(() => expect(text()).toMatch(/^HTTP\/1.1 413 /));
    expect(calls).toEqual([]);
  });

  it('a large body before it is sent, and invites others', async () => {
    const { port } = await serve();
    const head = (bytes: number): string =>
      `POST /webhook/plant/site HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: ${bytes}\r\n\r\n`;
    const large = raw(port);
    large.socket.write(head(MAX_BODY_BYTES + 1));
    await vi.waitFor(() => expect(large.text()).toMatch(/^HTTP\/1.1 413 /));
    const small = raw(port);
    small.socket.write(head(2));
    await vi.waitFor(() => expect(small.text()).toMatch(/^HTTP\/1.1 100 /));
    small.socket.write('{}');
    await vi.waitFor(() => expect(small.text()).toContain('HTTP/1.1 401 '));
  });

  it('a body that does not arrive in time', async () => {
    const { port, clock, calls } = await serve();
    const { socket, text } = raw(port);
    socket.write('POST /webhook/plant/site HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{');
    await vi.waitFor(() => expect(clock.pendingTimers).toBe(1));
    await clock.advance(BODY_TIMEOUT_MS);
    await vi.waitFor(() => expect(text()).toMatch(/^HTTP\/1.1 408 .*did not arrive within 10 s/s));
    expect(calls).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('a wrong signature, an unknown IgnitionSync and a disabled one with the same response', async () => {
    const { send, syncs } = await serve();
    syncs.set('plant/off', sync({ enabled: false }));
    const replies = await Promise.all(
      ['site', 'off', 'unknown'].map((name) => send({ ref: 'v2' }, { path: `/webhook/plant/${name}`, secret: 'x' })),
    );
    const comparable = replies.map(({ status, headers: { date: _, ...headers }, body }) => ({ status, headers, body }));
    expect(comparable[0]).toMatchObject({ status: 401, body: refused('unauthorized') });
    expect(comparable[1]).toEqual(comparable[0]);
    expect(comparable[2]).toEqual(comparable[0]);
  });

  it('an unknown or disabled IgnitionSync after authentication, and looks it up only then', async () => {
    const { send, syncs, calls } = await serve();
    syncs.set('plant/off', sync({ enabled: false }));
    for (const name of ['off', 'unknown'])
      expect(await send({ ref: 'v2' }, { path: `/webhook/plant/${name}` })).toMatchObject({
        status: 404,
        body: refused('not found'),
      });
    expect(calls).toEqual(['find plant/off', 'find plant/unknown']);
  });

  it('an IgnitionSync that disappears before it is written', async () => {
    const { send } = await serve({ annotate: () => Promise.resolve(undefined) });
    expect(await send({ ref: 'v2' })).toMatchObject({ status: 404, body: refused('not found') });
  });

  it('everything without configured authentication, unless that is allowed', async () => {
    const closed = await serve({ hmac: null });
    expect(await closed.send({ ref: 'v2' })).toMatchObject({ status: 401 });
    const open = await serve({ hmac: null, allowUnauthenticated: true });
    expect(await open.send({ ref: 'v2' }, { secret: null })).toMatchObject({ status: 202 });
  });

  it.each(['', 'x', '[]', '"a"', 'null', '{"ref":"v2"', '{}{}', `${'[{"a":'.repeat(100)}1${'}]'.repeat(100)}`])(
    'the body %j, which is no JSON object',
    async (body) => {
      const { send, calls } = await serve();
      const { status, body: reply } = await send(body);
      expect([status, reply]).toEqual([400, refused(expect.stringContaining('must be a JSON object') as string)]);
      // An unknown IgnitionSync is not looked up for it either.
      expect(calls).toEqual([]);
    },
  );

  it('a payload without a ref, or with one that cannot be used', async () => {
    const { send, written } = await serve();
    expect(await send({ a: 1 })).toMatchObject({ status: 400, body: refused('no ref found in payload') });
    expect(await send({ ref: '--upload-pack=x' })).toMatchObject({ status: 400, body: { accepted: false } });
    expect(written).toEqual([]);
  });
});

describe('a receiver that stops', () => {
  it('completes requests that it has begun, and accepts no others', async () => {
    let complete = (): void => undefined;
    const { send, stop, calls } = await serve({
      annotate: () => new Promise((resolve) => (complete = () => resolve({ outcome: 'unchanged', ref: 'main' }))),
    });
    const reply = send({ ref: 'v2' });
    await vi.waitFor(() => expect(calls).toHaveLength(1));
    await new Promise((resolve) => setImmediate(resolve));
    const stopping = stop();
    // It is reset if another thread starts a process at that moment, which has a copy of the listening socket for a while.
    await expect(send({ ref: 'v2' })).rejects.toMatchObject({
      code: expect.stringMatching(/^ECONN(?:REFUSED|RESET)$/),
    });
    complete();
    expect(await reply).toMatchObject({ status: 200, headers: { connection: 'close' } });
    await stopping;
  });

  it('does not wait forever for a body', async () => {
    const { port, stop, clock } = await serve();
    const { socket } = raw(port);
    socket.write('POST /webhook/plant/site HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{');
    await vi.waitFor(() => expect(clock.pendingTimers).toBe(1));
    const stopping = stop();
    await clock.advance(BODY_TIMEOUT_MS);
    await stopping;
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('a receiver with TLS', () => {
  it('serves the certificate in its folder, and a renewed one after an invalid one', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bowline-receiver-'));
    cleanUps.push(() => rm(folder, { recursive: true, force: true }));
    const [first, second] = await Promise.all([authorityAndLeaf(), authorityAndLeaf()]);
    const write = async (cert: string, key: string): Promise<void> => {
      await writeFile(join(folder, 'tls.crt'), cert);
      await writeFile(join(folder, 'tls.key'), key);
    };
    await write(first.cert, first.key);
    const { port, clock } = await serve({}, folder);
    expect(await sendTo(port, { ref: 'v2' }, {}, first.ca)).toMatchObject({ status: 202 });
    await write(second.cert, first.key);
    await clock.advance(30_000);
    await vi.waitFor(() => expect(clock.pendingTimers).toBe(1));
    expect(await sendTo(port, { ref: 'v2' }, {}, first.ca)).toMatchObject({ status: 200 });
    await write(second.cert, second.key);
    await clock.advance(30_000);
    await vi.waitFor(() => expect(clock.pendingTimers).toBe(1));
    expect(await sendTo(port, { ref: 'v2' }, {}, second.ca)).toMatchObject({ status: 200 });
  });

  it('does not start without a certificate', async () => {
    const { handler, clock } = receiverWorld();
    const running = runReceiver(
      new AbortController().signal,
      { handler, host: '127.0.0.1', port: 0, certificateFolder: '/nowhere', clock, log: silentLog },
      { listensOn: () => undefined, readiness: () => undefined },
    );
    await expect(running).rejects.toMatchObject({ code: 'BOWLINE_CERTIFICATE_UNUSABLE' });
  });
});

it('reports an address that is in use', async () => {
  const { port } = await serve();
  const { handler, clock } = receiverWorld();
  const running = runReceiver(
    new AbortController().signal,
    { handler, host: '127.0.0.1', port, clock, log: silentLog },
    { listensOn: () => undefined, readiness: () => undefined },
  );
  await expect(running).rejects.toMatchObject({ code: 'BOWLINE_ADDRESS_IN_USE' });
});

async function authorityAndLeaf() {
  const authority = await createCertificateAuthority({ commonName: 'receiver-test' });
  const leaf = await issueCertificate({ authority, commonName: 'x', ipAddresses: ['127.0.0.1'], usages: ['server'] });
  return { ca: authority.certificatePem, cert: leaf.certificatePem, key: leaf.keyPem };
}
