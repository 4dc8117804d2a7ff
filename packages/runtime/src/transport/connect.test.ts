import { getEventListeners } from 'node:events';
import type { ServerHttp2Stream } from 'node:http2';
import { createServer } from 'node:net';
import { createServer as createTlsServer, TLSSocket } from 'node:tls';
import { issueCertificate, VirtualClock } from '@bowline/machinery';
import { expect, test } from 'vitest';
import { noMetrics } from '../observability/metrics.ts';
import { connect } from './connect.ts';
import type { Credentials } from './connection-config.ts';
import { get, http2Server, listen, outcome, pki, until } from './server.test-support.ts';
import { tokenCredentials } from './token-credentials.ts';

function respond(stream: ServerHttp2Stream, text = 'ok', status = 200): void {
  stream.respond({ ':status': status });
  stream.end(text);
}

test('limits the calls in flight, queues the others in order and records how long they waited', async () => {
  const held: ServerHttp2Stream[] = [];
  const waits: number[] = [];
  const wire = new VirtualClock();
  await using server = await http2Server((stream) => held.push(stream));
  await using transport = connect(server.config, {
    wire,
    maxInFlight: 2,
    metrics: { ...noMetrics, histogram: () => ({ observe: (value) => waits.push(value) }) },
  });
  const order: number[] = [];
  const all = [0, 1, 2, 3].map((index) =>
    outcome(transport.request(get('/', { beforeSend: () => order.push(index), timeoutMs: 60_000 }))),
  );
  await until(() => held.length === 2);
  await wire.advance(3000);
  expect(held).toHaveLength(2);
  for (const stream of held.splice(0)) respond(stream);
  await until(() => held.length === 2);
  for (const stream of held.splice(0)) respond(stream);
  expect(await Promise.all(all)).toEqual(['ok', 'ok', 'ok', 'ok']);
  expect(order).toEqual([0, 1, 2, 3]);
  expect(waits).toEqual([0, 0, 3, 3]);
});

test('sends a lease renewal immediately while calls are queued', async () => {
  const held: ServerHttp2Stream[] = [];
  await using server = await http2Server((stream, headers) => {
    if (headers[':path'] === '/lease') respond(stream, 'renewed');
    else held.push(stream);
  });
  await using transport = connect(server.config, { maxInFlight: 1 });
  const calls = [outcome(transport.request(get('/'))), outcome(transport.request(get('/')))];
  await until(() => held.length === 1);
  expect(await outcome(transport.request(get('/lease', { lane: 'lease' })))).toBe('renewed');
  await transport.close();
  expect(await Promise.all(calls)).toMatchObject([
    { code: 'BOWLINE_TRANSPORT_CLOSED' },
    { code: 'BOWLINE_TRANSPORT_CLOSED' },
  ]);
});

test('rejects a watch beyond maxWatches and accepts it after another has ended', async () => {
  await using server = await http2Server((stream) => stream.respond({ ':status': 200 }));
  await using transport = connect(server.config, { maxWatches: 1 });
  const abort = new AbortController();
  const first = await transport.request(get('/', { lane: 'watch', signal: abort.signal }));
  expect(await outcome(transport.request(get('/', { lane: 'watch' })))).toMatchObject({
    code: 'BOWLINE_TRANSPORT_WATCH_LIMIT',
  });
  abort.abort(new Error('over'));
  await expect(first.text()).rejects.toThrow('over');
  expect((await transport.request(get('/', { lane: 'watch' }))).status).toBe(200);
});

test('rejects promptly with the abort reason before sending and while connecting, waiting, queued or reading', async () => {
  const wire = new VirtualClock();
  const seen: ServerHttp2Stream[] = [];
  await using server = await http2Server((stream, headers) => {
    seen.push(stream);
    if (headers[':path'] === '/silent') return;
    stream.respond({ ':status': 200 });
    stream.write('some');
  });
  await using silentServer = await listen(
    createServer(() => {}),
    (port) => ({ server: `https://127.0.0.1:${port}` }),
  );
  await using transport = connect(server.config, { wire, maxInFlight: 1 });
  await using unanswered = connect(silentServer.config, { wire });
  const abort = new AbortController();
  const more = { signal: abort.signal };

  const connecting = outcome(unanswered.request(get('/', more)));
  await until(() => silentServer.connections() === 1);
  const waiting = outcome(transport.request(get('/silent', more)));
  await until(() => seen.length === 1);
  const queued = outcome(transport.request(get('/silent', more)));
  const opened = await transport.request(get('/watch', { ...more, lane: 'watch' }));
  const unread = await transport.request(get('/watch', { ...more, lane: 'watch' }));
  const reader = opened.body[Symbol.asyncIterator]();
  await reader.next();
  const reading = reader.next().catch((error: unknown) => error);

  const reason = new Error('stop');
  abort.abort(reason);
  expect(await Promise.all([connecting, waiting, queued, reading])).toEqual([reason, reason, reason, reason]);
  await expect(unread.text()).rejects.toBe(reason);
  await expect(transport.request(get('/', more))).rejects.toBe(reason);
  await until(() => seen.every((stream) => stream.closed));
  expect(getEventListeners(abort.signal, 'abort')).toHaveLength(0);
  await transport.close();
  await unanswered.close();
  expect(wire.pendingTimers).toBe(0);
});

test('applies the timeout to the whole body of a call but only to the headers of a watch', async () => {
  const wire = new VirtualClock();
  let seen = 0;
  await using server = await http2Server((stream) => {
    seen++;
    stream.respond({ ':status': 200 });
    stream.write('some');
  });
  await using transport = connect(server.config, { wire, timeoutMs: 1000 });
  const watch = await transport.request(get('/', { lane: 'watch' }));
  const call = outcome(transport.request(get('/api/v1/secrets?labelSelector=secret')));
  await until(() => seen === 2);
  await wire.advance(1000);
  const error = await call;
  expect(error).toMatchObject({ code: 'BOWLINE_TRANSPORT_TIMEOUT', mayHaveBeenProcessed: true });
  expect(String(error)).toContain('GET /api/v1/secrets on');
  expect(String(error)).not.toContain('labelSelector');
  const reader = watch.body[Symbol.asyncIterator]();
  expect(Buffer.from((await reader.next()).value ?? []).toString()).toBe('some');
});

test('reports a connect timeout when the server never finishes the handshake', async () => {
  const wire = new VirtualClock();
  await using silentServer = await listen(
    createServer(() => {}),
    (port) => ({ server: `https://127.0.0.1:${port}`, source: 'context "x" of /kubeconfig' }),
  );
  await using transport = connect(silentServer.config, { wire });
  const result = outcome(transport.request(get('/')));
  await until(() => silentServer.connections() === 1);
  await wire.advance(10_000);
  expect(await result).toMatchObject({
    code: 'BOWLINE_TRANSPORT_CONNECT_TIMEOUT',
    message: expect.stringContaining('context "x" of /kubeconfig') as string,
  });
});

test('rejects the request without sending it when beforeSend throws', async () => {
  let seen = 0;
  await using server = await http2Server((stream) => {
    seen++;
    respond(stream);
  });
  await using transport = connect(server.config, { maxInFlight: 1 });
  const refuse = (): void => {
    throw new Error('not the leader');
  };
  await expect(transport.request(get('/', { method: 'POST', beforeSend: refuse }))).rejects.toThrow('not the leader');
  expect(await outcome(transport.request(get('/')))).toBe('ok');
  expect(seen).toBe(1);
});

test('reads at most maxResponseBytes of text', async () => {
  await using server = await http2Server((stream) => respond(stream, 'x'.repeat(100_000)));
  await using transport = connect(server.config, { maxResponseBytes: 50_000, maxInFlight: 1 });
  expect(await outcome(transport.request(get('/')))).toMatchObject({ code: 'BOWLINE_TRANSPORT_RESPONSE_TOO_LARGE' });
  expect(await outcome(transport.request(get('/')))).toMatchObject({ code: 'BOWLINE_TRANSPORT_RESPONSE_TOO_LARGE' });
});

test('refreshes credentials only once when several requests get 401 at the same time', async () => {
  let token = 'old';
  let refreshes = 0;
  const credentials: Credentials = {
    headers: () => ({ authorization: `Bearer ${token}` }),
    refresh: (rejected) => {
      if (rejected.headers.authorization === `Bearer ${token}`) {
        refreshes++;
        token = 'new';
      }
      return Promise.resolve(true);
    },
  };
  await using server = await http2Server((stream, headers) => {
    respond(stream, headers.authorization ?? '', headers.authorization === 'Bearer new' ? 200 : 401);
  });
  await using transport = connect({ ...server.config, credentials });
  const all = await Promise.all(
    [1, 2, 3].map(() => outcome(transport.request(get('/', { method: 'POST', body: '{}' })))),
  );
  expect(all).toEqual(['Bearer new', 'Bearer new', 'Bearer new']);
  expect(refreshes).toBe(1);
});

test('returns a 401 to the caller when refreshing did not change the credentials', async () => {
  await using server = await http2Server((stream) => respond(stream, 'no', 401));
  const credentials: Credentials = { headers: () => ({}), refresh: () => Promise.resolve(false) };
  await using transport = connect({ ...server.config, credentials });
  const response = await transport.request(get('/'));
  expect([response.status, await response.text()]).toEqual([401, 'no']);
});

test('opens new connections with a renewed client certificate', async () => {
  const { authority, client } = await pki();
  const renewed = await issueCertificate({ authority, commonName: 'renewed', usages: ['client'] });
  let certificate = client;
  const names: string[] = [];
  await using server = await http2Server(
    (stream) => {
      const socket = stream.session?.socket;
      const name = socket instanceof TLSSocket ? String(socket.getPeerCertificate().subject.CN) : '';
      names.push(name);
      respond(stream, name, name === 'renewed' ? 200 : 401);
    },
    { requestCert: true, ca: authority.certificatePem },
  );
  const credentials: Credentials = {
    headers: () => ({}),
    certificate: () => Promise.resolve(certificate),
    refresh: (rejected) => {
      certificate = renewed;
      return Promise.resolve(rejected.certificatePem !== renewed.certificatePem);
    },
  };
  await using transport = connect({ ...server.config, credentials });
  expect(await outcome(transport.request(get('/')))).toBe('renewed');
  expect(names).toEqual(['tester', 'renewed']);
});

test('prepends the path of the server URL to the request path', async () => {
  await using server = await http2Server((stream, headers) => respond(stream, headers[':path']));
  await using transport = connect({ ...server.config, server: `${server.config.server}/k8s/clusters/c-1/` });
  expect(await outcome(transport.request(get('/api?limit=1')))).toBe('/k8s/clusters/c-1/api?limit=1');
});

test('sends impersonation headers, one per group', async () => {
  await using server = await http2Server((stream, headers) => respond(stream, JSON.stringify(headers)));
  await using transport = connect({
    ...server.config,
    impersonate: { user: 'jane', groups: ['dev', 'ops'], uid: '7', extra: { 'example.com/Scope': ['a', 'b'] } },
  });
  const headers = JSON.parse((await outcome(transport.request(get('/')))) as string) as Record<string, string>;
  expect(headers).toMatchObject({
    'impersonate-user': 'jane',
    'impersonate-uid': '7',
    'impersonate-group': 'dev, ops',
    'impersonate-extra-example.com%2fscope': 'a, b',
  });
  const other = await outcome(transport.request(get('/', { impersonate: { user: 'joe' } })));
  expect(JSON.parse(other as string)).toMatchObject({ 'impersonate-user': 'joe' });
  expect(other).not.toContain('jane');
});

test('reports a server that sends no HTTP/2 settings, and closes without waiting for it', async () => {
  const wire = new VirtualClock();
  const { authority, server: leaf } = await pki();
  const silent = createTlsServer({ key: leaf.keyPem, cert: leaf.certificatePem, ALPNProtocols: ['h2'] });
  let secured = 0;
  silent.on('secureConnection', () => secured++);
  await using server = await listen(silent, (port) => ({
    server: `https://127.0.0.1:${port}`,
    ca: authority.certificatePem,
  }));
  await using transport = connect(server.config, { wire });
  const late = outcome(transport.request(get('/')));
  await until(() => secured === 1 && wire.pendingTimers === 3);
  await wire.advance(10_000);
  expect(await late).toMatchObject({
    code: 'BOWLINE_TRANSPORT_CONNECT_TIMEOUT',
    message: expect.stringContaining('sent no HTTP/2 settings') as string,
  });
  const closed = outcome(transport.request(get('/')));
  await until(() => secured === 2);
  await transport.close();
  expect(await closed).toMatchObject({ code: 'BOWLINE_TRANSPORT_CLOSED' });
  expect(wire.pendingTimers).toBe(0);
});

test('rejects requests after it was closed', async () => {
  await using server = await http2Server((stream) => respond(stream));
  const transport = connect(server.config);
  expect(await outcome(transport.request(get('/')))).toBe('ok');
  await transport.close();
  await transport.close();
  expect(await outcome(transport.request(get('/')))).toMatchObject({ code: 'BOWLINE_TRANSPORT_CLOSED' });
  expect(server.connections()).toBe(1);
});

test('connects with other credentials, the same CA and settings, and without the certificate and user of the first', async () => {
  const { authority, client } = await pki();
  const seen: unknown[] = [];
  await using server = await http2Server(
    (stream, headers) => {
      const socket = stream.session?.socket;
      const peer = socket instanceof TLSSocket ? socket.getPeerCertificate().subject?.CN : undefined;
      seen.push([peer, headers.authorization, headers['impersonate-user']]);
      respond(stream);
    },
    { requestCert: true, rejectUnauthorized: false, ca: authority.certificatePem },
  );
  const credentials: Credentials = {
    headers: () => ({ authorization: 'Bearer first' }),
    certificate: () => Promise.resolve(client),
    refresh: () => Promise.resolve(false),
  };
  await using transport = connect({ ...server.config, credentials, impersonate: { user: 'jane' } }, { maxWatches: 0 });
  const other = transport.withCredentials?.(tokenCredentials(() => 'second'));
  if (!other) throw new Error('not supported');
  for (const each of [transport, other]) expect(await outcome(each.request(get('/')))).toBe('ok');
  expect(seen).toEqual([
    ['tester', 'Bearer first', 'jane'],
    [undefined, 'Bearer second', undefined],
  ]);
  expect(await outcome(other?.request(get('/', { lane: 'watch' })) ?? Promise.reject(new Error('none')))).toMatchObject(
    {
      code: 'BOWLINE_TRANSPORT_WATCH_LIMIT',
    },
  );
  await other.close();
  expect(await outcome(transport.request(get('/')))).toBe('ok');
});
