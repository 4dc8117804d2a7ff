import type { ApiServer } from './api-server.ts';
import { MASTERS } from './authentication/user-info.ts';

const NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

/** ensureBootstrapObjects writes what every cluster has from the beginning, if it is not there. */
export async function ensureBootstrapObjects(server: ApiServer): Promise<void> {
  for (const name of NAMESPACES) await ensure(server, '/api/v1/namespaces', name, {});
}

async function ensure(server: ApiServer, path: string, name: string, rest: object): Promise<void> {
  const { status, body } = await server.handle({
    method: 'POST',
    url: path,
    headers: { 'content-type': 'application/json', 'user-agent': 'kube-apiserver' },
    body: () => Promise.resolve(Buffer.from(JSON.stringify({ metadata: { name }, ...rest }))),
    signal: new AbortController().signal,
    connection: {
      remoteAddress: '127.0.0.1',
      isSecure: true,
      certificate: { commonName: 'system:apiserver', organizations: [MASTERS] },
    },
  });
  // It was there already, from an earlier run.
  if (status === 201 || status === 409) return;
  throw new TypeError(`${path}/${name} cannot be made: ${typeof body === 'string' ? body : status}`);
}
