import type { ApiServer } from './api-server.ts';
import { MASTERS } from './authentication/user-info.ts';
import type { ApiResponse } from './http/api-request.ts';

const PRIORITY_CLASSES = [
  {
    name: 'system-cluster-critical',
    value: 2_000_000_000,
    description:
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  },
  {
    name: 'system-node-critical',
    value: 2_000_001_000,
    description: 'Used for system critical pods that must not be moved from their current node.',
  },
];

const NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

/** The Service through which Pods reach the API server; the provider of the cluster network decides where it leads. */
const API_SERVICE = {
  labels: { component: 'apiserver', provider: 'kubernetes' },
  spec: { clusterIP: '10.0.0.1', ports: [{ name: 'https', port: 443, targetPort: 6443 }] },
};

/** ensureBootstrapObjects creates the objects that every cluster has from the start, unless they exist. */
export async function ensureBootstrapObjects(server: ApiServer): Promise<void> {
  for (const name of NAMESPACES) {
    await ensure(server, '/api/v1/namespaces', name, {});
    // Controllers create the accounts of other namespaces; Pods in these namespaces need not wait for them.
    await ensure(server, `/api/v1/namespaces/${name}/serviceaccounts`, 'default', {});
  }
  for (const { name, value, description } of PRIORITY_CLASSES)
    await ensure(server, '/apis/scheduling.k8s.io/v1/priorityclasses', name, { value, description });
  const { labels, spec } = API_SERVICE;
  await ensure(server, '/api/v1/namespaces/default/services', 'kubernetes', { spec }, labels);
}

async function ensure(server: ApiServer, path: string, name: string, rest: object, labels?: object): Promise<void> {
  // It may exist already, from an earlier run.
  if ((await send(server, 'GET', `${path}/${name}`)).status === 200) return;
  const { status, body } = await send(server, 'POST', path, { metadata: { name, labels }, ...rest });
  if (status !== 201) throw new TypeError(`cannot create ${path}/${name}: ${typeof body === 'string' ? body : status}`);
}

function send(server: ApiServer, method: string, url: string, object?: object): Promise<ApiResponse> {
  return server.handle({
    method,
    url,
    headers: { 'content-type': 'application/json', 'user-agent': 'kube-apiserver' },
    body: () => Promise.resolve(Buffer.from(object ? JSON.stringify(object) : '')),
    signal: new AbortController().signal,
    connection: {
      remoteAddress: '127.0.0.1',
      isSecure: true,
      certificate: { commonName: 'system:apiserver', organizations: [MASTERS] },
    },
  });
}
