import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createCertificateAuthority, issueCertificate } from '@bowline/machinery';

/** LogServer is the part of the kubelet API that serves `kubectl logs`. */
export interface LogServer extends AsyncDisposable {
  readonly port: number;
}

/** The API server's requests are small, and there are no other clients. */
const LIMITS = { maxHeaderSize: 8 * 1024, requestTimeout: 10_000, headersTimeout: 5_000, keepAliveTimeout: 5_000 };
const MAX_CONNECTIONS = 100;

/**
 * startLogServer listens on 127.0.0.1 and reports for every container that it has no output because nothing runs. It does not
 * authenticate clients: its responses contain only names from the request.
 */
export async function startLogServer(): Promise<LogServer> {
  const authority = await createCertificateAuthority({ commonName: 'node-agent' });
  const { certificatePem: cert, keyPem: key } = await issueCertificate({
    authority,
    commonName: 'node-agent',
    ipAddresses: ['127.0.0.1'],
    usages: ['server'],
  });
  const { createServer } = await import('node:https');
  const server = createServer({ cert, key, ...LIMITS }, (request, response) => {
    const { status, text } = logResponse(request.method ?? '', request.url ?? '');
    response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' });
    response.end(`${text}\n`);
  });
  server.maxConnections = MAX_CONNECTIONS;
  // It must not keep a process alive that has nothing else to do.
  server.unref();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A connection that could not be accepted (no file descriptors left) is not fatal.
  server.on('error', () => undefined);
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** logResponse returns the response of a kubelet that runs nothing. */
export function logResponse(method: string, url: string): { readonly status: number; readonly text: string } {
  const name = '([-a-z0-9.]{1,253})';
  const path = url.split('?', 1)[0] ?? '';
  const match = new RegExp(`^/containerLogs/${name}/${name}/${name}$`).exec(path);
  if (method !== 'GET' || !match) {
    return {
      status: 501,
      text: 'the Bowline node agent runs no containers: it serves only their logs, which are empty',
    };
  }
  const [, namespace, pod, container] = match;
  return {
    status: 200,
    text: `[node agent] container ${container} of pod ${namespace}/${pod} is not executed, so it has no output`,
  };
}
