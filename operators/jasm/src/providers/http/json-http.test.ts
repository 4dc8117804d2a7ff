import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createProxy } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCertificateAuthority, issueCertificate, VirtualClock } from '@bowline/machinery';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeHttp, type FakeRequest } from '../../testing/fake-http.test-support.ts';
import { JsonHttp } from './json-http.ts';

let fake: FakeHttp;
let seen: FakeRequest[];
let stop: AbortController;
let observed: string[];

beforeEach(async () => {
  seen = [];
  observed = [];
  stop = new AbortController();
  fake = await FakeHttp.start((request) => {
    seen.push(request);
    return { status: 200, body: { ok: true } };
  });
});
afterEach(async () => {
  stop.abort();
  await fake[Symbol.asyncDispose]();
});

const never = new AbortController().signal;

function http(more: { readonly caFile?: string; readonly env?: Record<string, string> } = {}): JsonHttp {
  return new JsonHttp({
    provider: 'test',
    env: {},
    clock: new VirtualClock(),
    observe: ({ operation, code }) => observed.push(`${operation} ${code}`),
    signal: stop.signal,
    ...more,
  });
}

const call = (path = '/', signal = never) => ({ operation: 'Read', url: new URL(path, fake.url), signal });

describe('a call to a store', () => {
  it('sends JSON or a form, and returns the response as text and as JSON', async () => {
    const store = http();
    expect(await store.call({ ...call(), body: { json: { a: 1 } } })).toEqual({
      status: 200,
      text: '{"ok":true}',
      json: { ok: true },
      retryAfterMs: undefined,
    });
    await store.call({ ...call(), body: { form: { a: 'b c&d' } } });
    expect(seen.map(({ method, body, headers }) => [method, body, headers['content-type']])).toEqual([
      ['POST', '{"a":1}', 'application/json'],
      ['POST', 'a=b+c%26d', 'application/x-www-form-urlencoded'],
    ]);
  });

  it('returns a response of any status, also one that is not JSON', async () => {
    fake.fail(/./, { status: 503, body: '<html>', headers: { 'retry-after': '3' } });
    expect(await http().call(call())).toEqual({ status: 503, text: '<html>', json: undefined, retryAfterMs: 3000 });
    expect(observed).toEqual(['Read 503']);
  });

  it.each([
    ['reset', 'ECONNRESET'],
    ['cut', 'UND_ERR_SOCKET'],
  ] as const)('that ends with a %s causes a transient error', async (fault, code) => {
    fake.fail(/./, fault);
    await expect(http().call(call())).rejects.toMatchObject({
      kind: 'transient',
      code,
      message: `cannot reach ${fake.url}: ${code}; it is retried`,
    });
    expect(observed).toEqual([`Read ${code}`]);
  });

  it('to an address without a server causes a transient error', async () => {
    // No program listens on this port. One that was just closed may still accept connections, or belong to another test.
    const missing = http().call({ ...call(), url: new URL('http://127.0.0.1:1') });
    await expect(missing).rejects.toMatchObject({ kind: 'transient', code: 'ECONNREFUSED' });
  });

  it('rejects with the reason of the caller when it is aborted', async () => {
    fake.fail(/./, 'hang');
    const hanging = fake.hanging();
    const leaving = new AbortController();
    const outcome = expect(http().call(call('/', leaving.signal))).rejects.toThrow('enough');
    await hanging;
    leaving.abort(new Error('enough'));
    await outcome;
  });

  it('does not follow redirects, so that credentials are sent only to the configured address', async () => {
    fake.fail(/./, { status: 307, headers: { location: 'https://evil.example.com/' } });
    await expect(http().call(call())).rejects.toMatchObject({ kind: 'refused', code: '307' });
  });

  it('reads no more than 2 MiB', async () => {
    fake.fail(/./, { status: 200, body: 'x'.repeat(2 * 2 ** 20 + 1) }, { status: 200, body: 'x'.repeat(2 * 2 ** 20) });
    const store = http();
    await expect(store.call(call())).rejects.toMatchObject({ kind: 'refused', code: 'TooLarge' });
    expect((await store.call(call())).text).toHaveLength(2 * 2 ** 20);
  });

  it('goes through a proxy only if the environment names one', async () => {
    const tunnels: string[] = [];
    const proxy = createProxy().on('connect', (request, socket) => {
      tunnels.push(request.url ?? '');
      const outer = connect(Number(new URL(fake.url).port), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        outer.pipe(socket).pipe(outer);
      });
      for (const each of [outer, socket]) each.on('error', () => {});
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    try {
      const HTTP_PROXY = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
      await http().call(call());
      await http({ env: { HTTP_PROXY, NO_PROXY: '127.0.0.1' } }).call(call());
      await http({ env: { HTTP_PROXY } }).call({ ...call(), direct: true });
      expect(tunnels).toEqual([]);
      await http({ env: { HTTP_PROXY } }).call(call());
      expect(tunnels).toEqual([new URL(fake.url).host]);
    } finally {
      stop.abort();
      proxy.close();
      await once(proxy, 'close');
    }
  });
});

describe('the certificate of a store', () => {
  it('is verified with the authorities in the file, which is read again after a certificate was not trusted', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'json-http-'));
    const caFile = join(folder, 'ca.pem');
    const authority = await createCertificateAuthority({ commonName: 'store' });
    const leaf = await issueCertificate({
      authority,
      commonName: 'store',
      ipAddresses: ['127.0.0.1'],
      dnsNames: [],
      usages: ['server'],
    });
    const server = createServer({ key: leaf.keyPem, cert: leaf.certificatePem }, (_request, response) => {
      response.end('{}');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const url = new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);
      const store = http({ caFile });
      await expect(store.call({ ...call(), url })).rejects.toMatchObject({ kind: 'refused', code: 'NoAuthorities' });
      await writeFile(caFile, (await createCertificateAuthority({ commonName: 'other' })).certificatePem);
      await expect(store.call({ ...call(), url })).rejects.toMatchObject({
        kind: 'refused',
        message: expect.stringContaining('add its certificate authority to caFile') as string,
      });
      await writeFile(caFile, authority.certificatePem);
      expect(await store.call({ ...call(), url })).toMatchObject({ status: 200 });
    } finally {
      stop.abort();
      server.closeAllConnections();
      server.close();
      await rm(folder, { recursive: true });
    }
  });
});
