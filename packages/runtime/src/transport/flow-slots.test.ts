import type { ServerHttp2Stream } from 'node:http2';
import { ConfigMap } from '@bowline/kubernetes';
import { VirtualClock } from '@bowline/machinery';
import { expect, test } from 'vitest';
import { createClient } from '../client/create-client.ts';
import { connect } from './connect.ts';
import { get, http2Server, outcome, until } from './server.test-support.ts';

/** hangingServer responds to writes, except to those in namespaces whose admission hangs. */
async function hangingServer(...namespaces: string[]) {
  const held: ServerHttp2Stream[] = [];
  const server = await http2Server((stream, headers) => {
    const [, namespace = ''] = /namespaces\/([^/]+)\//.exec(headers[':path'] ?? '') ?? [];
    if (namespaces.includes(namespace)) {
      held.push(stream);
      return;
    }
    stream.respond({ ':status': 201 });
    stream.end('{}');
  });
  return { ...server, held };
}

/** The writes of a leader, each with a timeout of five seconds. */
function leader(transport: ReturnType<typeof connect>, wire: VirtualClock) {
  const client = createClient({ transport, wire }).guarded({ writeTimeoutMs: 5_000, assertMayWrite: () => {} });
  const write = (namespace: string) => client.create(ConfigMap, { metadata: { namespace, generateName: 'a' } });
  const writes = (count: number, namespace: string) =>
    Promise.all(
      Array.from({ length: count }, () => write(namespace).catch((error: { code: string }) => error.code)),
    ).then((codes) => [...new Set(codes)]);
  return { write, writes };
}

test('writes to one namespace while any number of writes to another hang', async () => {
  const wire = new VirtualClock();
  await using server = await hangingServer('stuck');
  await using transport = connect(server.config, { wire });
  const { write, writes } = leader(transport, wire);
  const stuck = writes(200, 'stuck');
  await until(() => server.held.length === 32);
  expect(await write('fine')).toBeDefined();
  expect(server.held).toHaveLength(32);
  await wire.advance(5_000);
  expect(await stuck).toEqual(['BOWLINE_TRANSPORT_TIMEOUT']);
  expect(await write('fine')).toBeDefined();
});

test('does not count the wait for slots held by other flows against the timeout of a write', async () => {
  const wire = new VirtualClock();
  await using server = await hangingServer('stuck', 'slow', 'late');
  await using transport = connect(server.config, { wire });
  const { write, writes } = leader(transport, wire);
  const others = [writes(32, 'stuck'), writes(32, 'slow')];
  await until(() => server.held.length === 64);
  const fine = write('fine');
  const late = write('late').catch((error: unknown) => error);
  await wire.advance(5_000);
  expect(await Promise.all(others)).toEqual([['BOWLINE_TRANSPORT_TIMEOUT'], ['BOWLINE_TRANSPORT_TIMEOUT']]);
  expect(await fine).toBeDefined();
  // Once sent, it has five seconds and no more: a lost lease cannot stop it after it was sent.
  await until(() => server.held.length === 65);
  let ended = false;
  void late.then(() => {
    ended = true;
  });
  await wire.advance(4_999);
  expect(ended).toBe(false);
  await wire.advance(1);
  expect(await late).toMatchObject({ code: 'BOWLINE_TRANSPORT_TIMEOUT', mayHaveBeenProcessed: true });
});

test('reports a request that never got a slot as not sent, and releases every slot', async () => {
  const wire = new VirtualClock();
  await using server = await hangingServer('stuck', 'slow');
  await using transport = connect(server.config, { wire, maxInFlight: 2 });
  const sendRequest = (namespace: string, more: object = {}) =>
    outcome(
      transport.request(get(`/namespaces/${namespace}/x`, { flow: namespace, timeoutMs: 60_000, waitMs: 0, ...more })),
    );
  const abort = new AbortController();
  const holding = [sendRequest('stuck', { signal: abort.signal }), sendRequest('slow', { signal: abort.signal })];
  await until(() => server.held.length === 2);
  const never = sendRequest('fine', { timeoutMs: 1_000, waitMs: 2_000 });
  const behind = sendRequest('stuck', { timeoutMs: 1_000, waitMs: 2_000 });
  await wire.advance(1_000);
  // Waiting for slots of its own flow counts against its timeout.
  expect(await behind).toMatchObject({ code: 'BOWLINE_TRANSPORT_TIMEOUT' });
  await wire.advance(2_000);
  expect(await never).toMatchObject({
    code: 'BOWLINE_TRANSPORT_TIMEOUT',
    mayHaveBeenProcessed: false,
    message: expect.stringContaining('2 other requests were still running after 3000 ms') as string,
  });
  abort.abort(new Error('over'));
  await Promise.all(holding);
  expect(await Promise.all(['a', 'b', 'a', 'b', 'a'].map((each) => sendRequest(each)))).toEqual([
    '{}',
    '{}',
    '{}',
    '{}',
    '{}',
  ]);
});
