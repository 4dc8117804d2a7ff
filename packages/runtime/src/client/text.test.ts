import { Pod } from '@bowline/kubernetes';
import { VirtualClock } from '@bowline/machinery';
import { expect, test } from 'vitest';
import type { Transport, TransportRequest } from '../transport/transport.ts';
import { createClient } from './create-client.ts';
import { podLog } from './pod-log.ts';
import { ScriptedTransport } from './scripted-transport.test-support.ts';

const key = { namespace: 'shop', name: 'web' };

test('requests the log of a Pod with the given options, and returns its text', async () => {
  const transport = new ScriptedTransport({ body: 'one\n\ntwo\n' });
  const client = createClient({ transport });
  const request = podLog({
    container: 'app',
    tailLines: 5,
    limitBytes: 100,
    sinceSeconds: 60,
    previous: true,
    timestamps: true,
  });
  expect(await client.readText(Pod, key, request)).toBe('one\n\ntwo\n');
  expect(transport.requests[0]).toMatchObject({
    path: '/api/v1/namespaces/shop/pods/web/log?container=app&tailLines=5&limitBytes=100&sinceSeconds=60&previous=true&timestamps=true',
    lane: 'call',
  });
});

test('rejects a text that is larger than maxBytes without reading all of it', async () => {
  let chunks = 0;
  const endless: Transport = {
    host: 'endless',
    request: () =>
      Promise.resolve({
        status: 200,
        headers: {},
        body: (async function* () {
          for (;;) {
            chunks++;
            yield await Promise.resolve(Buffer.alloc(1024));
          }
        })(),
        text: () => Promise.reject(new Error('the text has no end')),
        aliveAt: () => 0,
      }),
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const client = createClient({ transport: endless });
  await expect(client.readText(Pod, key, podLog())).rejects.toMatchObject({
    code: 'BOWLINE_TEXT_TOO_LARGE',
    message: expect.stringMatching(/^pods\/log of shop\/web has more than 1048576 bytes: .*tailLines/),
  });
  expect(chunks).toBe(1025);
  await expect(client.readText(Pod, key, { ...podLog(), maxBytes: 2048 })).rejects.toThrow(/more than 2048 bytes/);
  expect(chunks).toBe(1025 + 3);
});

test('returns a text that is exactly as large as maxBytes', async () => {
  const client = createClient({ transport: new ScriptedTransport({ body: ['ab', 'cd'] }) });
  expect(await client.readText(Pod, key, { ...podLog(), maxBytes: 4 })).toBe('abcd');
});

test('streams lines wherever the chunks are split, including empty lines and a last line without a newline', async () => {
  const rocket = Buffer.from('🚀');
  const body = ['one\n\ntw', 'o\n', rocket.subarray(0, 2), rocket.subarray(2), '\nlast'];
  const transport = new ScriptedTransport({ body });
  const client = createClient({ transport });
  const lines: string[] = [];
  for await (const line of await client.streamText(Pod, key, podLog({ follow: true }))) lines.push(line);
  expect(lines).toEqual(['one', '', 'two', '🚀', 'last']);
  expect(transport.requests[0]).toMatchObject({
    path: '/api/v1/namespaces/shop/pods/web/log?follow=true',
    lane: 'watch',
  });
});

test('streams chunks without splitting characters', async () => {
  const rocket = Buffer.from('🚀');
  const transport = new ScriptedTransport({ body: ['a', rocket.subarray(0, 2), rocket.subarray(2), 'b'] });
  const stream = await createClient({ transport }).streamText(Pod, key, podLog());
  const chunks: string[] = [];
  for await (const chunk of stream.chunks()) chunks.push(chunk);
  expect(chunks).toEqual(['a', '🚀', 'b']);
});

test('yields the lines before one that is too long, and then throws', async () => {
  const transport = new ScriptedTransport({ body: ['short\n', 'much too long'] });
  const stream = await createClient({ transport }).streamText(Pod, key, { ...podLog(), maxLineBytes: 8 });
  const lines: string[] = [];
  const reading = (async () => {
    for await (const line of stream) lines.push(line);
  })();
  await expect(reading).rejects.toMatchObject({ code: 'BOWLINE_TEXT_TOO_LARGE' });
  expect(lines).toEqual(['short']);
});

/** A server that sends its first line at once and then nothing until the request's signal is aborted. */
function silentServer(): Transport & { readonly requests: TransportRequest[] } {
  const requests: TransportRequest[] = [];
  return {
    host: 'silent',
    requests,
    request: (request) => {
      requests.push(request);
      const silence = new Promise<never>((_, reject) => {
        const { signal } = request;
        signal?.addEventListener('abort', () => reject(signal.reason as Error));
      });
      return Promise.resolve({
        status: 200,
        headers: {},
        body: (async function* () {
          yield Buffer.from('hello\n');
          await silence;
        })(),
        text: () => silence,
        aliveAt: () => 0,
      });
    },
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

test('waits indefinitely unless an idle timeout is set', async () => {
  const wire = new VirtualClock();
  const client = createClient({ transport: silentServer(), wire });
  const stream = await client.streamText(Pod, key, { ...podLog({ follow: true }), idleTimeoutMs: 60_000 });
  const lines = stream[Symbol.asyncIterator]();
  expect(await lines.next()).toEqual({ done: false, value: 'hello' });
  // A slow reader is not a silent server.
  await wire.advance(120_000);
  const next = lines.next();
  const refused = expect(next).rejects.toMatchObject({
    code: 'BOWLINE_TEXT_IDLE',
    retryable: true,
    message: expect.stringContaining('pods/log of shop/web sent nothing for 60000 ms'),
  });
  await wire.advance(60_000);
  await refused;
});

test('ends when its signal is aborted', async () => {
  const transport = silentServer();
  const abort = new AbortController();
  const client = createClient({ transport });
  const stream = await client.streamText(Pod, key, { ...podLog({ follow: true }), signal: abort.signal });
  const lines = stream[Symbol.asyncIterator]();
  await lines.next();
  const next = lines.next();
  abort.abort(new Error('enough'));
  await expect(next).rejects.toThrow('enough');
});

test('throws the error of the server', async () => {
  const body = {
    kind: 'Status',
    status: 'Failure',
    reason: 'BadRequest',
    message: 'container a is not valid',
    code: 400,
  };
  const transport = new ScriptedTransport({ status: 400, body }, { status: 400, body });
  const client = createClient({ transport });
  const request = podLog({ container: 'a' });
  await expect(client.readText(Pod, key, request)).rejects.toThrow('get Pod/log shop/web: container a is not valid');
  await expect(client.streamText(Pod, key, request)).rejects.toMatchObject({ code: 'BOWLINE_API_BAD_REQUEST' });
});
