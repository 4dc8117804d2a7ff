import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:tls';
import type { Secret } from '@bowline/kubernetes';
import { createCertificateAuthority, issueCertificate } from '@bowline/machinery';

/**
 * observe counts the changes of the Secret: how often its certificate and its CA changed, and the maximum number of CAs at once.
 */
export async function observe(history: readonly Secret[]): Promise<Record<string, number>> {
  const values = (key: string): number => new Set(history.flatMap(({ data }) => data?.[key] ?? [])).size;
  const bundles = history.map(({ data }) => Buffer.from(data?.['ca.crt'] ?? '', 'base64').toString());
  return {
    secretWrites: history.length,
    certificates: values('tls.crt'),
    authorities: values('ca.key'),
    mostAuthoritiesAtOnce: Math.max(0, ...bundles.map((bundle) => bundle.split('BEGIN CERTIFICATE').length - 1)),
  };
}

/** servedCertificate returns the PEM of the certificate in a new handshake, without its last line break. */
export function servedCertificate(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    // Trust is decided by the API server; here only the bytes matter.
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerX509Certificate()?.toString().trim());
      socket.destroy();
    });
    socket.on('error', () => resolve(undefined));
  });
}

/** startImpostor starts a server whose certificate no configuration trusts. */
export async function startImpostor(): Promise<AsyncDisposable & { readonly port: number }> {
  const authority = await createCertificateAuthority({ commonName: 'impostor' });
  const { certificatePem, keyPem } = await issueCertificate({
    authority,
    commonName: 'impostor',
    ipAddresses: ['127.0.0.1'],
    usages: ['server'],
  });
  const server = createServer({ cert: certificatePem, key: keyPem }, (_, response) => response.end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      server.closeAllConnections();
      await closed;
    },
  };
}
