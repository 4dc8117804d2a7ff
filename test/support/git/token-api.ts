import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createCertificateAuthority, issueCertificate } from '@bowline/machinery';

/** TokenApi issues the tokens of GitHub Apps on loopback, with the responses of GitHub's API. */
export interface TokenApi extends AsyncDisposable {
  readonly url: string;
  /** The certificate authority of its certificate. */
  readonly ca: string;
}

const VALID_MS = 3_600_000;

/** startTokenApi answers every request for a token of an installation with the same token. */
export async function startTokenApi(token: string): Promise<TokenApi> {
  const authority = await createCertificateAuthority({ commonName: 'api test' });
  const { certificatePem, keyPem } = await issueCertificate({
    authority,
    commonName: 'localhost',
    dnsNames: ['localhost'],
    usages: ['server'],
  });
  const server = createServer({ cert: certificatePem, key: keyPem }, (_request, response) => {
    const expires_at = new Date(Date.now() + VALID_MS).toISOString();
    response.writeHead(201).end(JSON.stringify({ token, expires_at }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    ca: authority.certificatePem,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
