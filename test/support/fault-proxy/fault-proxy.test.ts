import { once } from 'node:events';
import { createServer } from 'node:http';
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import { request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createCertificateAuthority, issueCertificate, seededRandom } from '@bowline/machinery';
import {
  type ConnectionConfig,
  connect,
  type Transport,
  type TransportOptions,
  tokenCredentials,
} from '@bowline/runtime/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fault, type Schedule, seededFaults } from './fault.ts';
import { FaultProxy } from './fault-proxy.ts';

const LINES = Array.from({ length: 4 }, (_, n) => JSON.stringify({ type: n === 2 ? 'BOOKMARK' : 'ADDED', n }));

/** A small API server: `?watch=true` sends LINES and stays open until the client disconnects, anything else echoes. */
class Origin {
  readonly seen: { method: string; path: string; authorization: string | undefined; body: string }[] = [];
  openWatches = 0;
  config: ConnectionConfig = { server: '' };
  #server = createSecureServer();

  async start(): Promise<void> {
    const authority = await createCertificateAuthority({ commonName: 'origin' });
    const leaf = await issueCertificate({
      authority,
      commonName: 'origin',
      ipAddresses: ['127.0.0.1'],
      usages: ['server'],
    });
    this.#server = createSecureServer({ cert: leaf.certificatePem, key: leaf.keyPem });
    this.#server.on('request', (request, response) => void this.#answer(request, response));
    this.#server.on('sessionError', () => {});
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.config = {
      server: `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`,
      ca: authority.certificatePem,
      credentials: tokenCredentials('the-proxy'),
    };
  }

  async stop(): Promise<void> {
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(request: Http2ServerRequest, response: Http2ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts).toString();
    this.seen.push({
      method: request.method,
      path: request.url,
      authorization: request.headers.authorization,
      body,
    });
    if (!request.url.includes('watch=true')) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ echo: body }));
      return;
    }
    this.openWatches++;
    response.on('close', () => this.openWatches--);
    response.writeHead(200, { 'content-type': 'application/json' });
    for (const line of LINES) response.write(`${line}\n`);
  }
}

const origin = new Origin();
beforeAll(() => origin.start());
afterAll(() => origin.stop());

async function through(fault: Fault | undefined | Schedule, options: TransportOptions = {}) {
  const proxy = await FaultProxy.start({ upstream: origin.config, schedule: firstOnly(fault) });
  const transport = connect(await proxy.connection('client'), { pingIntervalMs: 50, pingTimeoutMs: 200, ...options });
  return {
    proxy,
    transport,
    async [Symbol.asyncDispose]() {
      await transport.close();
      await proxy.close();
    },
  };
}

/** The fault applies to the first request only. */
function firstOnly(fault: Fault | undefined | Schedule): Schedule {
  return typeof fault === 'function' ? fault : (request) => (request.number === 1 ? fault : undefined);
}

const get = (transport: Transport, extra: object = {}) =>
  transport.request({ method: 'GET', path: '/api/v1/pods', lane: 'call', ...extra });

const watch = (transport: Transport, signal?: AbortSignal) =>
  transport.request({ method: 'GET', path: '/api/v1/pods?watch=true', lane: 'watch', signal });

/** read reads a watch until it has the given number of lines or ends; returns the text and how it ended. */
async function read(transport: Transport, lineCount = Number.POSITIVE_INFINITY) {
  const stop = new AbortController();
  let text = '';
  try {
    const response = await watch(transport, stop.signal);
    for await (const chunk of response.body) {
      text += Buffer.from(chunk).toString();
      if (text.split('\n').length > lineCount) break;
    }
    return { text, ended: 'cleanly' };
  } catch (error) {
    return { text, ended: (error as { code: string }).code };
  } finally {
    stop.abort();
  }
}

describe('FaultProxy', () => {
  it('passes requests, bodies and identities through without faults', async () => {
    await using world = await through(undefined);
    const answer = await get(world.transport, { method: 'POST', body: 'hello' });
    expect([answer.status, await answer.text()]).toEqual([200, '{"echo":"hello"}']);
    expect(origin.seen.at(-1)).toMatchObject({ method: 'POST', authorization: 'Bearer the-proxy', body: 'hello' });
    const own = connect(await world.proxy.connection('other', tokenCredentials('the-client')));
    await (await get(own)).text();
    expect(origin.seen.at(-1)?.authorization).toBe('Bearer the-client');
    await own.close();
  });

  it('supports HTTP/1.1', async () => {
    await using world = await through(undefined);
    const { server, ca } = await world.proxy.connection('h1');
    const text = await new Promise<string>((resolve, reject) => {
      const request = httpsRequest(`${server}/x`, { ca: ca as string, agent: false }, (response) => {
        let body = '';
        response.on('data', (chunk: Buffer) => {
          body += chunk.toString();
        });
        response.on('end', () => resolve(`${response.httpVersion} ${body}`));
      });
      request.on('error', reject);
      request.end();
    });
    expect(text).toBe('1.1 {"echo":""}');
  });

  it('proxies a server that uses HTTP/1.1 without TLS', async () => {
    const server = createServer((request, response) => {
      response.writeHead(201, { 'x-from': 'origin', 'x-host': request.headers.host });
      request.pipe(response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      const schedule: Schedule = ({ number }) => (number === 2 ? { kind: 'answer', status: 500 } : undefined);
      await using proxy = await FaultProxy.start({ upstream: { server: `http://${host}` }, schedule });
      const transport = connect(await proxy.connection('client'));
      const body = 'x'.repeat(200_000);
      const answer = await get(transport, { method: 'POST', body });
      expect([answer.status, answer.headers['x-from'], answer.headers['x-host']]).toEqual([201, 'origin', host]);
      expect(await answer.text()).toBe(body);
      expect((await get(transport)).status).toBe(500);
      expect((await get(transport)).status).toBe(201);
      await transport.close();
    } finally {
      server.close();
    }
  });

  it.each([409, 410, 429, 500, 503])('returns %d in place of the server', async (status) => {
    const before = origin.seen.length;
    await using world = await through({ kind: 'answer', status, retryAfterSeconds: 7 });
    const answer = await get(world.transport);
    expect(answer.status).toBe(status);
    expect(answer.headers['retry-after']).toBe('7');
    expect(JSON.parse(await answer.text())).toMatchObject({ kind: 'Status', code: status });
    expect(origin.seen).toHaveLength(before);
  });

  it('resets the connection before the server sees the request, or after its response', async () => {
    const before = origin.seen.length;
    await using early = await through({ kind: 'drop', when: 'before' });
    await expect(get(early.transport, { method: 'POST', body: 'x' })).rejects.toMatchObject({
      code: expect.stringContaining('BOWLINE_TRANSPORT') as string,
    });
    expect(origin.seen).toHaveLength(before);
    await using late = await through({ kind: 'drop', when: 'answer' });
    await expect(get(late.transport, { method: 'POST', body: 'x' })).rejects.toThrow();
    expect(origin.seen).toHaveLength(before + 1);
  });

  it('lets a client retry a refused stream, and continue after a GOAWAY', async () => {
    for (const kind of ['refuse-stream', 'goaway'] as const) {
      await using world = await through({ kind });
      expect(await (await get(world.transport)).text()).toBe('{"echo":""}');
      expect(await (await get(world.transport)).text()).toBe('{"echo":""}');
      expect(world.proxy.injected).toHaveLength(1);
    }
  });

  it('leaves a connection half open: no bytes, no PING acknowledgement', async () => {
    await using world = await through({ kind: 'half-open', afterLines: 2 });
    const { text, ended } = await read(world.transport);
    expect(text).toBe(`${LINES.slice(0, 2).join('\n')}\n`);
    expect(ended).toContain('BOWLINE_TRANSPORT');
  });

  it.each([
    [{ kind: 'truncate', afterLines: 1 }, `${LINES[0]}\n${LINES[1]?.slice(0, 10)}`],
    [{ kind: 'end', afterLines: 2 }, `${LINES[0]}\n${LINES[1]}\n`],
  ] as const)('ends a watch cleanly at an inconvenient position: %o', async (fault, expected) => {
    await using world = await through(fault);
    const { text, ended } = await read(world.transport);
    expect(ended).toBe('cleanly');
    expect(text.startsWith(expected)).toBe(true);
    expect(text.length).toBeLessThan(expected.length + 10);
  });

  it('inserts an ERROR line into a watch', async () => {
    await using world = await through({ kind: 'watch-error', code: 410, afterLines: 1 });
    const { text } = await read(world.transport);
    const [first, second, rest] = text.split('\n');
    expect(first).toBe(LINES[0]);
    expect(JSON.parse(second ?? '')).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } });
    expect(rest).toBe('');
  });

  it('sends bookmarks twice', async () => {
    await using world = await through({ kind: 'duplicate-bookmark' });
    const { text } = await read(world.transport, 5);
    expect(text).toBe(`${[LINES[0], LINES[1], LINES[2], LINES[2], LINES[3]].join('\n')}\n`);
  });

  it('delays bytes in flight and delivers them later', async () => {
    await using world = await through({ kind: 'stall', ms: 20, afterLines: 1 });
    const { text } = await read(world.transport, 4);
    expect(text).toBe(`${LINES.join('\n')}\n`);
  });

  it('restarts: resets every connection, refuses new ones, and comes back on the same port', async () => {
    await using world = await through(undefined);
    const endpoint = await world.proxy.endpoint('client');
    const watching = read(world.transport, 100);
    while (origin.openWatches === 0) await new Promise((resolve) => setImmediate(resolve));
    await endpoint.down();
    expect((await watching).ended).toContain('BOWLINE_TRANSPORT');
    await expect(get(world.transport, { method: 'POST' })).rejects.toThrow();
    await endpoint.up();
    expect((await get(world.transport)).status).toBe(200);
  });

  it('performs a restart requested by a schedule', async () => {
    await using world = await through({ kind: 'restart', downMs: 10 });
    await expect(get(world.transport)).rejects.toThrow();
    const answer = await eventually(() => get(world.transport));
    expect(answer.status).toBe(200);
  });

  it('partitions one client while another continues, and delivers held bytes when it heals', async () => {
    await using world = await through(undefined, { pingIntervalMs: 60_000 });
    const other = connect(await world.proxy.connection('other'));
    await (await get(world.transport)).text();
    const endpoint = await world.proxy.endpoint('client');
    endpoint.partition();
    let answered = false;
    const held = get(world.transport).then((answer) => {
      answered = true;
      return answer;
    });
    expect((await get(other)).status).toBe(200);
    expect(answered).toBe(false);
    endpoint.heal();
    expect((await held).status).toBe(200);
    await other.close();
  });

  it('ends the server side of a watch when the client disconnects', async () => {
    await using world = await through(undefined);
    await read(world.transport, 2);
    while (origin.openWatches > 0) await new Promise((resolve) => setImmediate(resolve));
  });

  it('closes with watches open and connections held, and leaves nothing behind', async () => {
    const world = await through(undefined);
    const watching = read(world.transport, 100);
    while (origin.openWatches === 0) await new Promise((resolve) => setImmediate(resolve));
    const endpoint = await world.proxy.endpoint('client');
    endpoint.partition();
    await world.proxy.close();
    expect(endpoint.connections).toBe(0);
    expect((await watching).ended).toContain('BOWLINE_TRANSPORT');
    await world.transport.close();
    while (origin.openWatches > 0) await new Promise((resolve) => setImmediate(resolve));
  });
});

describe('seededFaults', () => {
  it('decides the same with the same seed, and passes everything after its last fault', () => {
    const run = (seed: number) => {
      const schedule = seededFaults({ random: seededRandom(seed), maxFaults: 5 });
      return Array.from({ length: 40 }, (_, n) =>
        schedule({ client: 'c', method: 'GET', path: '/', isWatch: n % 2 === 0, number: n + 1 }),
      );
    };
    expect(run(1)).toEqual(run(1));
    expect(run(1)).not.toEqual(run(2));
    expect(run(1).filter((fault) => fault !== undefined)).toHaveLength(5);
  });
});

/** eventually repeats a request until it succeeds; the failures before are those that the caller's client would see too. */
async function eventually<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
