import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:http2';
import { createCertificateAuthority, issueCertificate } from '@bowline/machinery';
import { expect, it } from 'vitest';
import { badRequest } from '../status/api-status.ts';
import { type Listener, type ListenOptions, listen } from './listen.ts';

/** readBroken reads the beginning of a body whose client then disconnects, and returns the error of the reader. */
async function readBroken(
  tls: ListenOptions['tls'],
  leaveHalfWay: (listener: Listener, isReading: Promise<void>) => Promise<void>,
): Promise<unknown> {
  let begin = (): void => {};
  const isReading = new Promise<void>((resolve) => {
    begin = resolve;
  });
  let settle = (_: unknown): void => {};
  const outcome = new Promise<unknown>((resolve) => {
    settle = resolve;
  });
  await using listener = await listen({
    tls,
    handle: async ({ body }) => {
      const reading = body(100);
      begin();
      settle(await reading.catch((error: unknown) => error));
      return { status: 200, headers: {}, body: '' };
    },
  });
  await leaveHalfWay(listener, isReading);
  return await outcome;
}

it('reports a truncated body as an unexpected EOF over HTTP/1.1', async () => {
  const error = await readBroken(undefined, async ({ port }, isReading) => {
    const headers = { 'content-length': 20 };
    const client = request({ host: '127.0.0.1', port, method: 'POST', headers }).on('error', () => {});
    client.write('data: {}\n');
    await isReading;
    client.destroy();
  });
  expect(error).toEqual(badRequest('unexpected EOF'));
});

it('reports a truncated body as an unexpected EOF over HTTP/2', async () => {
  const authority = await createCertificateAuthority({ commonName: 'test' });
  const ipAddresses = ['127.0.0.1'];
  const server = await issueCertificate({ authority, commonName: 'server', ipAddresses, usages: ['server'] });
  const tls = { certificate: server.certificatePem, key: server.keyPem, clientAuthority: authority.certificatePem };
  const error = await readBroken(tls, async ({ port }, isReading) => {
    const session = connect(`https://127.0.0.1:${port}`, { ca: authority.certificatePem });
    const client = session.request({ ':method': 'POST' }).on('error', () => {});
    client.write('data: {}\n');
    await isReading;
    client.destroy();
    await once(client, 'close');
    session.close();
  });
  expect(error).toEqual(badRequest('unexpected EOF'));
});
