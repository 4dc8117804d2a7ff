import { createHash, X509Certificate } from 'node:crypto';
import { get } from 'node:http';
import { connect, type IncomingHttpHeaders } from 'node:http2';
import { createCertificateAuthority, issueCertificate } from '@bowline/machinery';
import { describe, expect, it } from 'vitest';
import type { ApiRequest } from './api-request.ts';
import { listen } from './listen.ts';

const json = { 'content-type': 'application/json' };

describe('listen', () => {
  it('serves HTTP/1.1 on loopback, bodies included, and frees the port', async () => {
    const seen: ApiRequest[] = [];
    const handle = async (request: ApiRequest) => {
      seen.push(request);
      return { status: 201, headers: json, body: Buffer.from(await request.body(10)).toString() };
    };
    const listener = await listen({ handle });
    const response = await fetch(`http://127.0.0.1:${listener.port}/a?b=c`, { method: 'POST', body: '{"x":1}' });
    expect([response.status, await response.text()]).toEqual([201, '{"x":1}']);
    expect(seen[0]).toMatchObject({ method: 'POST', url: '/a?b=c', connection: { isSecure: false } });
    await listener.close();
    await using again = await listen({ handle, port: listener.port });
    expect(again.port).toBe(listener.port);
  });

  it('joins repeated headers and also provides the original lines', async () => {
    let seen: ApiRequest | undefined;
    await using listener = await listen({
      handle: (request) => {
        seen = request;
        return Promise.resolve({ status: 200, headers: json, body: '' });
      },
    });
    await new Promise<void>((resolve) => {
      const headers = { 'X-A': ['one, two', 'three'] };
      get({ host: '127.0.0.1', port: listener.port, headers }, (response) => response.resume().on('end', resolve));
    });
    expect(seen?.headers['x-a']).toBe('one, two, three');
    expect(seen?.headerLines?.().filter(([name]) => name === 'x-a')).toEqual([
      ['x-a', 'one, two'],
      ['x-a', 'three'],
    ]);
  });

  it('reads request headers far beyond the default limit of Node', async () => {
    const handle = ({ url }: ApiRequest) => Promise.resolve({ status: 200, headers: json, body: String(url.length) });
    await using listener = await listen({ handle });
    const response = await fetch(`http://127.0.0.1:${listener.port}/${'a'.repeat(100_000)}`);
    expect([response.status, await response.text()]).toEqual([200, '100001']);
  });

  it('refuses a body that is larger than the reader allows', async () => {
    await using listener = await listen({
      handle: async (request) => {
        const problem = await request.body(3).then(
          () => 'none',
          (error: Error) => error.message,
        );
        return { status: 200, headers: json, body: problem };
      },
    });
    const response = await fetch(`http://127.0.0.1:${listener.port}/`, { method: 'POST', body: 'abcd' });
    expect(await response.text()).toBe('Request entity too large: limit is 3');
  });

  it('sends the headers of a stream at once and notifies the handler when the client disconnects', async () => {
    const disconnected = new Promise<void>((resolve) => {
      void listen({
        handle: ({ signal }) => {
          signal.addEventListener('abort', () => resolve());
          return Promise.resolve({ status: 200, headers: json, body: forever(signal) });
        },
      }).then(async (listener) => {
        const client = new AbortController();
        const response = await fetch(`http://127.0.0.1:${listener.port}/`, { signal: client.signal });
        expect(response.status).toBe(200);
        client.abort();
        await listener.close();
      });
    });
    await disconnected;
  });

  it('serves HTTP/2 with TLS and passes on the client certificate', async () => {
    const authority = await createCertificateAuthority({ commonName: 'test' });
    const server = await issueCertificate({
      authority,
      commonName: 'server',
      ipAddresses: ['127.0.0.1'],
      usages: ['server'],
    });
    const user = await issueCertificate({
      authority,
      commonName: 'ann',
      organizations: ['a', 'b'],
      usages: ['client'],
    });
    await using listener = await listen({
      handle: ({ connection }) =>
        Promise.resolve({
          status: 200,
          headers: json,
          body: JSON.stringify({ ...connection, remoteAddress: undefined }),
        }),
      tls: { certificate: server.certificatePem, key: server.keyPem, clientAuthority: authority.certificatePem },
    });
    const ask = async (options: object): Promise<unknown> => {
      const session = connect(`https://127.0.0.1:${listener.port}`, { ca: authority.certificatePem, ...options });
      const stream = session.request({ ':path': '/' });
      const [headers] = await new Promise<[IncomingHttpHeaders]>((resolve) =>
        stream.once('response', (...args) => resolve([args[0]])),
      );
      expect(headers[':status' as never]).toBe(200);
      let text = '';
      for await (const chunk of stream.setEncoding('utf8')) text += String(chunk);
      session.close();
      return JSON.parse(text) as unknown;
    };
    expect(await ask({})).toEqual({ isSecure: true });
    expect(await ask({ cert: user.certificatePem, key: user.keyPem })).toEqual({
      isSecure: true,
      certificate: {
        commonName: 'ann',
        organizations: ['a', 'b'],
        fingerprint: createHash('sha256').update(new X509Certificate(user.certificatePem).raw).digest('hex'),
      },
    });
    const unknownAuthority = await createCertificateAuthority({ commonName: 'stranger' });
    const other = await issueCertificate({ authority: unknownAuthority, commonName: 'eve', usages: ['client'] });
    expect(await ask({ cert: other.certificatePem, key: other.keyPem })).toEqual({
      isSecure: true,
      hasInvalidCertificate: true,
    });
  });
});

async function* forever(signal: AbortSignal): AsyncGenerator<string> {
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
}
