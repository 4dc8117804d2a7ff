import type { RequestListener } from 'node:http';
import { expect, test } from 'vitest';
import { connect } from './connect.ts';
import { get, http1Server, outcome, until } from './server.test-support.ts';

const kinds = [
  ['over TLS', false],
  ['in plain text', true],
] as const;

/** holding returns a listener that echoes the body, and that delays requests to /held until the test releases them. */
function holding(): { listener: RequestListener; held: (() => void)[] } {
  const held: (() => void)[] = [];
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const respond = (): void => {
        response.end(`${request.method} ${request.url} ${Buffer.concat(chunks).toString()}`);
      };
      if (request.url === '/held') held.push(respond);
      else respond();
    });
  };
  return { listener, held };
}

test.each(kinds)('uses HTTP/1.1 %s if the server does, with one connection for sequential calls', async (_, plain) => {
  await using server = await http1Server(holding().listener, plain);
  await using transport = connect(server.config);
  for (let count = 0; count < 5; count++) {
    const request = get('/x', { method: 'POST', body: `{"n":"ü${count}"}` });
    expect(await outcome(transport.request(request))).toBe(`POST /x {"n":"ü${count}"}`);
  }
  expect(server.connections()).toBe(1);
});

test('opens one connection per concurrent request and keeps a few', async () => {
  const { listener, held } = holding();
  await using server = await http1Server(listener);
  await using transport = connect(server.config, { maxInFlight: 12 });
  const all = Promise.all(Array.from({ length: 20 }, () => outcome(transport.request(get('/held')))));
  await until(() => held.length === 12);
  expect(server.connections()).toBe(12);
  while (held.length > 0) held.shift()?.();
  await until(() => held.length === 8);
  while (held.length > 0) held.shift()?.();
  expect(new Set(await all)).toEqual(new Set(['GET /held ']));
});

test('cancels a watch by its signal and reports a truncated one as a lost connection', async () => {
  await using server = await http1Server((request, response) => {
    response.write('line\n');
    if (request.url === '/cut') response.write('half', () => response.destroy());
  });
  await using transport = connect(server.config);
  const abort = new AbortController();
  const watch = await transport.request(get('/', { lane: 'watch', signal: abort.signal }));
  const reader = watch.body[Symbol.asyncIterator]();
  expect(Buffer.from((await reader.next()).value ?? []).toString()).toBe('line\n');
  const next = reader.next();
  abort.abort(new Error('stop'));
  await expect(next).rejects.toThrow('stop');
  expect(await outcome(transport.request(get('/cut', { lane: 'watch' })))).toMatchObject({
    code: 'BOWLINE_TRANSPORT_CONNECTION_LOST',
  });
});

test('opens a new connection when the server has closed the idle one', async () => {
  await using server = await http1Server((_request, response) => {
    response.setHeader('connection', 'close');
    response.end('ok');
  });
  await using transport = connect(server.config);
  expect(await outcome(transport.request(get('/')))).toBe('ok');
  expect(await outcome(transport.request(get('/', { method: 'POST', body: 'x' })))).toBe('ok');
  expect(server.connections()).toBe(2);
});
