import { type Cluster, cluster } from '@bowline/control-plane/testing';
import { ConfigMap, resource } from '@bowline/kubernetes';
import { createCertificateAuthority } from '@bowline/machinery';
import { expect, test } from 'vitest';
import { parseKubeconfig } from '../kubeconfig/kubeconfig.ts';
import { connectionFrom } from '../kubeconfig/load-kubeconfig.ts';
import { connect } from '../transport/connect.ts';
import type { ConnectionConfig } from '../transport/connection-config.ts';
import type { Client } from './client.ts';
import { createClient } from './create-client.ts';

interface Widget {
  readonly metadata?: ConfigMap['metadata'];
}

const Widget = resource<Widget>()({
  group: 'absent.example.com',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  scope: 'Namespaced',
});

interface Row {
  readonly input: string;
  readonly code: string;
  readonly names: readonly (string | RegExp)[];
  readonly change?: (config: ConnectionConfig) => ConnectionConfig | Promise<ConnectionConfig>;
  readonly call?: (client: Client) => Promise<unknown>;
}

const rows: readonly Row[] = [
  {
    input: 'a token that the server does not accept',
    change: (config) => ({
      ...config,
      credentials: { headers: () => ({ authorization: 'Bearer canary' }), refresh: () => Promise.resolve(false) },
    }),
    code: 'BOWLINE_API_UNAUTHORIZED',
    names: ['cannot list ConfigMap', 'renew the token or client certificate'],
  },
  {
    input: 'a missing CRD',
    call: (client) => client.list<Widget>(Widget),
    code: 'BOWLINE_API_KIND_NOT_SERVED',
    names: ['does not serve widgets.absent.example.com in version v1', 'install its CustomResourceDefinition'],
  },
  {
    input: 'a forbidden list',
    code: 'BOWLINE_API_FORBIDDEN',
    names: [
      /cannot list resource "configmaps"/,
      'grant this identity the verb list on configmaps of the core API group in the whole cluster',
    ],
  },
  {
    input: 'a forbidden watch',
    call: (client) => client.watch(ConfigMap),
    code: 'BOWLINE_API_FORBIDDEN',
    names: [/cannot watch resource "configmaps"/, 'the verb watch on configmaps'],
  },
  {
    input: 'a certificate of the wrong CA',
    change: async (config) => ({
      ...config,
      ca: (await createCertificateAuthority({ commonName: 'other' })).certificatePem,
    }),
    code: 'BOWLINE_TRANSPORT_TLS_UNTRUSTED',
    names: [/is not signed by the certificate authority/, 'check certificate-authority of the cluster entry'],
  },
  {
    input: 'a server that is addressed by a name it does not have',
    change: (config) => ({ ...config, serverName: 'elsewhere.example.com' }),
    code: 'BOWLINE_TRANSPORT_TLS_HOST_NAME',
    names: ['is not valid for this host name', 'tls-server-name'],
  },
];

/**
 * limitedConfig returns the connection of a ServiceAccount that may list one kind, which does not exist: without that
 * right, the server would report only the missing right.
 */
async function limitedConfig(c: Cluster): Promise<ConnectionConfig> {
  const rule = { apiGroups: [Widget.group], resources: [Widget.plural], verbs: ['list'] };
  const { identity } = await c.serviceAccount({ clusterRules: [rule] });
  return connectionFrom(await parseKubeconfig(JSON.stringify(await c.kubeconfig(identity)), 'the rig'));
}

test.each(rows)('$input → $code, with a message that names the problem and the fix', async (row) => {
  await using c = await cluster();
  const config = await limitedConfig(c);
  await using transport = connect((await row.change?.(config)) ?? config);
  const client = createClient({ transport });
  const call = row.call ?? ((apiClient: Client) => apiClient.list(ConfigMap));
  const error: unknown = await call(client).then(
    () => undefined,
    (problem: unknown) => problem,
  );
  expect(error).toMatchObject({ code: row.code });
  for (const name of row.names) expect((error as Error).message).toMatch(name);
  expect((error as Error).message).not.toContain('canary');
});
