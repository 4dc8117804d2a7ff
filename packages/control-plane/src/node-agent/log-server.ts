import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createCertificateAuthority, issueCertificate } from '@bowline/machinery';

/** LogServer is the part of a kubelet's own API that answers `kubectl logs`. */
export interface LogServer extends AsyncDisposable {
  readonly port: number;
}

/** The API server's requests are small, and nobody else should ask. */
const LIMITS = { maxHeaderSize: 8 * 1024, requestTimeout: 10_000, headersTimeout: 5_000, keepAliveTimeout: 5_000 };
const MOST_CONNECTIONS = 100;

/**
 * startLogServer listens on 127.0.0.1 and says, of every container, that it has no output because nothing runs. It asks
 * nobody who they are: it knows nothing, and answers only with names that stand in the request.
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
    const { status, text } = answer(request.method ?? '', request.url ?? '');
    response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' });
    response.end(`${text}\n`);
  });
  server.maxConnections = MOST_CONNECTIONS;
  // It does not keep a process alive that has nothing else to do.
  server.unref();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A connection that could not be taken (no file descriptors left) is nobody's end.
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

/** answer is what a kubelet that runs nothing says to a request. */
export function answer(method: string, url: string): { readonly status: number; readonly text: string } {
  const name = '([-a-z0-9.]{1,253})';
  const path = url.split('?', 1)[0] ?? '';
  const match = new RegExp(`^/containerLogs/${name}/${name}/${name}$`).exec(path);
  if (method !== 'GET' || !match) {
    return {
      status: 501,
      text: 'the Bowline node agent runs no containers: only their logs can be asked for, and are empty',
    };
  }
  const [, namespace, pod, container] = match;
  return {
    status: 200,
    text: `[node agent] container ${container} of pod ${namespace}/${pod} is not executed, so it has written nothing`,
  };
}
