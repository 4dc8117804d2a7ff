import type { Client, ConnectionConfig } from '@bowline/runtime/client';
import type { LocalAccount } from '@bowline/runtime/manager';

/** Long enough for a day of work; the API server may shorten it. */
const TOKEN_SECONDS = 24 * 60 * 60;

/** accountKubeconfig returns the text of a kubeconfig of a ServiceAccount, for the cluster that a connection is to. */
export async function accountKubeconfig(
  admin: Pick<Client, 'requestToken'>,
  connection: ConnectionConfig,
  { serviceAccount, pod }: LocalAccount,
): Promise<string> {
  const { token } = await admin.requestToken(serviceAccount, {
    expirationSeconds: TOKEN_SECONDS,
    ...(pod === undefined ? {} : { boundObject: { apiVersion: 'v1', kind: 'Pod', name: pod } }),
  });
  const { server, ca, serverName, insecureSkipTlsVerify, proxyUrl } = connection;
  const pem = typeof ca === 'function' ? await ca() : ca;
  const name = 'bowline';
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name,
        cluster: {
          server,
          'certificate-authority-data': pem === undefined ? undefined : Buffer.from(pem).toString('base64'),
          'tls-server-name': serverName,
          'insecure-skip-tls-verify': insecureSkipTlsVerify,
          'proxy-url': proxyUrl,
        },
      },
    ],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: serviceAccount.namespace } }],
    'current-context': name,
  });
}
