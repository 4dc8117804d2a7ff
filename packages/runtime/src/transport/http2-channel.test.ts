import { constants, type ServerHttp2Stream } from 'node:http2';
import { VirtualClock } from '@bowline/machinery';
import { expect, test } from 'vitest';
import { connect } from './connect.ts';
import { get, http2Server, outcome, relayTo, until } from './server.test-support.ts';
import type { TransportResponse } from './transport.ts';

function respond(stream: ServerHttp2Stream, text = 'ok'): void {
  stream.respond({ ':status': 200 });
  stream.end(text);
}

test('completes requests in flight after a graceful GOAWAY and sends the next one on a new connection', async () => {
  const held: ServerHttp2Stream[] = [];
  await using server = await http2Server((stream, headers) => {
    if (headers[':path'] === '/slow') held.push(stream);
    else respond(stream, 'new');
  });
  await using transport = connect(server.config);
  const slow = outcome(transport.request(get('/slow')));
  await until(() => held.length === 1);
  server.sessions[0]?.goaway(constants.NGHTTP2_NO_ERROR);
  expect(await outcome(transport.request(get('/next')))).toBe('new');
  for (const stream of held) respond(stream, 'finished');
  expect(await slow).toBe('finished');
  expect(server.sessions).toHaveLength(2);
});

test.each([
  ['graceful', constants.NGHTTP2_NO_ERROR],
  ['abrupt', constants.NGHTTP2_INTERNAL_ERROR],
])('retries a write that a %s GOAWAY left unprocessed, and calls beforeSend each time', async (_, code) => {
  let writes = 0;
  await using server = await http2Server((stream, headers) => {
    if (headers[':method'] === 'GET' || ++writes > 1) respond(stream, `write ${writes}`);
    // The GET was stream 1 and this one is 3: a GOAWAY with last stream 1 means that it was not processed.
    else stream.session?.goaway(code, 1);
  });
  await using transport = connect(server.config);
  await outcome(transport.request(get('/')));
  let beforeSendCalls = 0;
  const request = get('/', { method: 'POST', body: '{}', beforeSend: () => beforeSendCalls++ });
  expect(await outcome(transport.request(request))).toBe('write 2');
  expect(beforeSendCalls).toBe(2);
});

test('retries refused streams', async () => {
  let seen = 0;
  await using server = await http2Server((stream) => {
    if (++seen < 3) stream.close(constants.NGHTTP2_REFUSED_STREAM);
    else respond(stream);
  });
  await using transport = connect(server.config);
  expect(await outcome(transport.request(get('/', { method: 'POST', body: 'x' })))).toBe('ok');
});

test('fails after the server has refused every attempt', async () => {
  const wire = new VirtualClock();
  let seen = 0;
  await using server = await http2Server((stream) => {
    seen++;
    stream.close(constants.NGHTTP2_REFUSED_STREAM);
  });
  await using transport = connect(server.config, { wire });
  const result = outcome(transport.request(get('/')));
  for (let attempt = 2; attempt <= 6; attempt++) {
    await until(() => seen === attempt - 1 && (attempt === 2 || wire.pendingTimers >= 3));
    await wire.advance(1000);
  }
  expect(await result).toMatchObject({ code: 'BOWLINE_TRANSPORT_REFUSED', mayHaveBeenProcessed: false });
  expect(seen).toBe(6);
});

test('does not retry a write that the server may have processed', async () => {
  let seen = 0;
  await using server = await http2Server((stream) => {
    seen++;
    stream.session?.destroy();
  });
  await using transport = connect(server.config);
  expect(await outcome(transport.request(get('/', { method: 'POST', body: 'x' })))).toMatchObject({
    code: 'BOWLINE_TRANSPORT_CONNECTION_LOST',
    mayHaveBeenProcessed: true,
  });
  expect(seen).toBe(1);
});

test('detects a half-open connection by PING and fails its requests', async () => {
  const wire = new VirtualClock();
  await using server = await http2Server((stream, headers) => {
    stream.respond({ ':status': 200 });
    if (headers[':path'] === '/after') stream.end('alive');
    else stream.write('first');
  });
  await using relay = await relayTo(server.port);
  await using transport = connect({ ...server.config, server: `https://127.0.0.1:${relay.port}` }, { wire });
  const watch = await transport.request(get('/watch', { lane: 'watch' }));
  const chunks = watch.body[Symbol.asyncIterator]();
  await chunks.next();
  const openedAt = watch.aliveAt();
  await wire.advance(15_000);
  await until(() => watch.aliveAt() > openedAt);
  const lastActivityAt = watch.aliveAt();

  relay.hold();
  const next = chunks.next().catch((error: unknown) => error);
  await wire.advance(15_000);
  await wire.advance(10_000);
  expect(await next).toMatchObject({ code: 'BOWLINE_TRANSPORT_CONNECTION_LOST' });
  expect(watch.aliveAt()).toBe(lastActivityAt);
  expect(await outcome(transport.request(get('/after', { lane: 'watch' })))).toBe('alive');
  expect(relay.connections()).toBe(2);
});

test('sends the next request on a new connection after one timed out without any activity', async () => {
  const wire = new VirtualClock();
  await using server = await http2Server((stream) => respond(stream));
  await using relay = await relayTo(server.port);
  await using transport = connect({ ...server.config, server: `https://127.0.0.1:${relay.port}` }, { wire });
  expect(await outcome(transport.request(get('/', { lane: 'lease' })))).toBe('ok');
  await wire.advance(1);
  relay.hold();
  let sent = false;
  const renewal = outcome(
    transport.request(
      get('/', {
        lane: 'lease',
        timeoutMs: 5000,
        beforeSend: () => {
          sent = true;
        },
      }),
    ),
  );
  await until(() => sent);
  await wire.advance(5000);
  expect(await renewal).toMatchObject({ code: 'BOWLINE_TRANSPORT_TIMEOUT' });
  expect(await outcome(transport.request(get('/', { lane: 'lease' })))).toBe('ok');
});

test('spreads watches over connections with eighty on each', async () => {
  const perSession = new Map<unknown, number>();
  await using server = await http2Server((stream, headers) => {
    perSession.set(stream.session, (perSession.get(stream.session) ?? 0) + 1);
    if (headers[':path'] === '/call') respond(stream);
    else stream.respond({ ':status': 200 });
  });
  await using transport = connect(server.config);
  const abort = new AbortController();
  const open = (): Promise<TransportResponse> => transport.request(get('/', { lane: 'watch', signal: abort.signal }));
  await Promise.all(Array.from({ length: 170 }, open));
  expect([...perSession.values()].sort((a, b) => a - b)).toEqual([10, 80, 80]);
  expect(await outcome(transport.request(get('/call')))).toBe('ok');
  expect(perSession.size).toBe(4);
  abort.abort(new Error('done'));
});

test('closes a connection that no watch needs any more', async () => {
  await using server = await http2Server((stream) => stream.respond({ ':status': 200 }));
  await using transport = connect(server.config);
  const first = new AbortController();
  const last = new AbortController();
  const open = (abort: AbortController): Promise<TransportResponse> =>
    transport.request(get('/', { lane: 'watch', signal: abort.signal }));
  await open(first);
  await Promise.all(Array.from({ length: 79 }, () => open(last)));
  const surplus = new AbortController();
  await open(surplus);
  expect(server.sessions).toHaveLength(2);
  surplus.abort();
  first.abort();
  await until(() => server.sessions[1]?.destroyed === true);
  expect(server.sessions[0]?.destroyed).toBe(false);
  last.abort();
});

test('never opens more streams on a connection than the server allows', async () => {
  let open = 0;
  let maximum = 0;
  const held: ServerHttp2Stream[] = [];
  await using server = await http2Server(
    (stream) => {
      open++;
      maximum = Math.max(maximum, open);
      stream.on('close', () => open--);
      held.push(stream);
    },
    { settings: { maxConcurrentStreams: 3 } },
  );
  await using transport = connect(server.config);
  const all = Promise.all(Array.from({ length: 7 }, () => outcome(transport.request(get('/')))));
  await until(() => held.length === 7);
  expect(server.sessions).toHaveLength(3);
  for (const stream of held) respond(stream);
  expect(await all).toEqual(Array.from({ length: 7 }, () => 'ok'));
  expect(maximum).toBeLessThanOrEqual(9);
});

test('stalls only the stream with the slow reader', async () => {
  const written = { slow: 0 };
  const chunk = Buffer.alloc(16_384, 'x');
  await using server = await http2Server((stream, headers) => {
    stream.respond({ ':status': 200 });
    if (headers[':path'] === '/fast') {
      stream.end(Buffer.alloc(4 * 2 ** 20, 'y'));
      return;
    }
    const pump = (): void => {
      while (!stream.destroyed && written.slow < 64 * 2 ** 20) {
        written.slow += chunk.length;
        if (!stream.write(chunk)) {
          stream.once('drain', pump);
          return;
        }
      }
    };
    pump();
  });
  await using transport = connect(server.config);
  const abort = new AbortController();
  const slow = await transport.request(get('/slow', { lane: 'watch', signal: abort.signal }));
  const fast = await transport.request(get('/fast', { lane: 'watch' }));
  expect(await fast.text()).toHaveLength(4 * 2 ** 20);
  // The window plus what is buffered on the way, not the 64 MiB that the server would send.
  expect(written.slow).toBeLessThan(4 * 2 ** 20);
  const reader = slow.body[Symbol.asyncIterator]();
  const before = written.slow;
  for (let read = 0; read < 3 * 2 ** 20; ) read += (await reader.next()).value?.length ?? Number.NaN;
  expect(written.slow).toBeGreaterThan(before);
  abort.abort(new Error('enough'));
  await expect(drain(reader)).rejects.toThrow('enough');
});

async function drain(reader: AsyncIterator<Uint8Array>): Promise<void> {
  while (!(await reader.next()).done);
}

test('reports a truncated response as a lost connection', async () => {
  await using server = await http2Server((stream) => {
    stream.respond({ ':status': 200 });
    stream.write('half');
  });
  await using relay = await relayTo(server.port);
  await using transport = connect({ ...server.config, server: `https://127.0.0.1:${relay.port}` });
  for (const end of [() => server.sessions.at(-1)?.destroy(), () => relay.cut()]) {
    const response = await transport.request(get('/'));
    const reader = response.body[Symbol.asyncIterator]();
    await reader.next();
    end();
    await expect(drain(reader)).rejects.toMatchObject({ code: 'BOWLINE_TRANSPORT_CONNECTION_LOST' });
  }
});
