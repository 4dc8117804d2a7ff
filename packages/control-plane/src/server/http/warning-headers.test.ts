import { request } from 'node:http';
import { connect, type IncomingHttpHeaders } from 'node:http2';
import { createCertificateAuthority, issueCertificate } from '@bowline/machinery';
import { describe, expect, it } from 'vitest';
import { startTestServer } from '../in-process.test-support.ts';
import { listen } from './listen.ts';
import { warningHeaders } from './warning-headers.ts';

/** Reads headers as a client that expects UTF-8 does. */
const read = (headers: readonly string[]): string[] => headers.map((line) => Buffer.from(line, 'latin1').toString());
const lengths = (headers: readonly string[]): number[] => read(headers).map((line) => [...line].length - 8);

describe('warningHeaders', () => {
  it('writes each text once, in UTF-8, with quotes escaped', () => {
    expect(read(warningHeaders(['a "b" \\', '日本 😀', 'a "b" \\']))).toEqual([
      '299 - "a \\"b\\" \\\\"',
      '299 - "日本 😀"',
    ]);
  });

  it('removes characters that are not allowed in headers', () => {
    expect(warningHeaders(['', 'a\nb', 'a\u007fb', 'a\u0085b'])).toEqual([]);
  });

  it('keeps long texts complete while all fit, and truncates each when they do not', () => {
    expect(lengths(warningHeaders(['x'.repeat(4_000), '😀'.repeat(96)]))).toEqual([4_000, 96]);
    expect(lengths(warningHeaders(['x'.repeat(4_000), '😀'.repeat(300), 'z']))).toEqual([256, 256, 1]);
    const many = Array.from({ length: 50 }, (_, index) => `${index}`.padEnd(300, '.'));
    expect(warningHeaders(many)).toHaveLength(16);
  });
});

describe('a warning with characters that Node rejects in headers', () => {
  const { server } = startTestServer();
  const path = '/api/v1/namespaces/default/configmaps';
  const handle = server.handle.bind(server);
  const object = (name: string): string => JSON.stringify({ metadata: { name }, 日本: 1, 'a\u007f': 1 });
  const warnings = ['299 - "unknown field \\"日本\\""', '299 - "unknown field \\"a\\\\x7f\\""'];

  it('reaches clients of HTTP/1.1', async () => {
    await using listener = await listen({ handle });
    const lines = await new Promise<readonly string[]>((resolve, reject) => {
      const headers = { 'content-type': 'application/json' };
      request({ host: '127.0.0.1', port: listener.port, path, method: 'POST', headers }, (response) => {
        response.resume();
        resolve(response.headersDistinct.warning ?? []);
      })
        .on('error', reject)
        .end(object('a'));
    });
    expect(read(lines)).toEqual(warnings);
  });

  it('reaches clients of HTTP/2', async () => {
    const authority = await createCertificateAuthority({ commonName: 'test' });
    const issued = await issueCertificate({
      authority,
      commonName: 'x',
      ipAddresses: ['127.0.0.1'],
      usages: ['server'],
    });
    const { certificatePem: ca } = authority;
    const tls = { certificate: issued.certificatePem, key: issued.keyPem, clientAuthority: ca };
    await using listener = await listen({ handle, tls });
    const session = connect(`https://127.0.0.1:${listener.port}`, { ca });
    const headers = await new Promise<IncomingHttpHeaders>((resolve, reject) => {
      session
        .request({ ':path': path, ':method': 'POST', 'content-type': 'application/json' })
        .on('response', resolve)
        .on('error', reject)
        .resume()
        .end(object('b'));
    });
    session.close();
    expect(read([headers.warning ?? ''])).toEqual([warnings.join(', ')]);
  });
});
