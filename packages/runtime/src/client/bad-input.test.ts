import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { ConfigMap, resource } from '@bowline/kubernetes';
import { issueCertificate } from '@bowline/machinery';
import { describe, expect, test } from 'vitest';
import { testFolder } from '../kubeconfig/folder.test-support.ts';
import { loadKubeconfig } from '../kubeconfig/load-kubeconfig.ts';
import { connect } from '../transport/connect.ts';
import { http2Server, makePki, pki, type TestServer } from '../transport/server.test-support.ts';
import { createClient } from './create-client.ts';

interface Widget {
  readonly metadata?: ConfigMap['metadata'];
}

const Widget = resource<Widget>()({
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  scope: 'Namespaced',
});

function status(code: number, reason: string, message: string): object {
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message };
}

/**
 * The server of every row: it knows one token, does not serve widgets and allows no client to list in the whole
 * cluster.
 */
function handleStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
  const reply = (code: number, body: object | string): void => {
    stream.respond({ ':status': code });
    stream.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
  const path = headers[':path'] ?? '';
  if (headers.authorization !== 'Bearer canary-good') reply(401, status(401, 'Unauthorized', 'Unauthorized'));
  else if (path.startsWith('/apis/example.com/')) reply(404, '404 page not found\n');
  else if (path.startsWith('/api/v1/configmaps')) {
    const message =
      'configmaps is forbidden: User "joe" cannot list resource "configmaps" in API group "" at the cluster scope';
    reply(403, status(403, 'Forbidden', message));
  } else reply(200, { items: [] });
}

interface Row {
  readonly input: string;
  readonly code: string;
  /** What the message must contain: the problem and the fix. */
  readonly names: readonly (string | RegExp)[];
  /** Changes the kubeconfig's text. */
  readonly change?: (text: string) => string;
  readonly kind?: typeof ConfigMap | typeof Widget;
  readonly server?: () => Promise<Pick<TestServer, 'config'> & AsyncDisposable>;
}

const otherAuthority = (): Promise<string> =>
  makePki().then((other) => Buffer.from(other.authority.certificatePem).toString('base64'));

/** certified starts the same server with another certificate. */
async function certified(
  names: { dnsNames?: string[]; ipAddresses?: string[] },
  now?: number,
  validForMs?: number,
): Promise<TestServer> {
  const leaf = await issueCertificate({
    authority: (await pki()).authority,
    commonName: 'odd',
    usages: ['server'],
    ...names,
    ...(now === undefined ? {} : { now }),
    ...(validForMs === undefined ? {} : { validForMs }),
  });
  return http2Server(handleStream, { cert: leaf.certificatePem, key: leaf.keyPem });
}

const rows: readonly Row[] = [
  {
    input: 'a kubeconfig that is not YAML',
    change: (text) => `${text}\n  - }{`,
    code: 'BOWLINE_KUBECONFIG_INVALID',
    names: [/kubeconfig \S+kubeconfig: not valid YAML at line \d+/, 'correct the syntax'],
  },
  {
    input: 'a context that names an absent user',
    change: (text) => text.replace('user: joe }', 'user: jim }'),
    code: 'BOWLINE_KUBECONFIG_INVALID',
    names: ['context "here" refers to the user "jim"', 'add it or correct the name'],
  },
  {
    input: 'an expired token',
    change: (text) => text.replace('canary-good', 'canary-old'),
    code: 'BOWLINE_API_UNAUTHORIZED',
    names: ['cannot list ConfigMap', 'renew the token or client certificate'],
  },
  {
    input: 'a missing CRD',
    kind: Widget,
    code: 'BOWLINE_API_KIND_NOT_SERVED',
    names: [
      'cannot list Widget',
      'does not serve widgets.example.com in version v1',
      'install its CustomResourceDefinition',
    ],
  },
  {
    input: 'a server that does not listen',
    // No program listens on this port. One that was just closed may still accept connections, or belong to another test.
    server: async () => ({
      config: { server: 'https://127.0.0.1:1' },
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }),
    code: 'BOWLINE_TRANSPORT_UNREACHABLE',
    names: [
      /cannot connect to https:\/\/127\.0\.0\.1:1 \(context "here" of \S+\): the connection was refused/,
      'check that the API server runs',
    ],
  },
  {
    input: 'a forbidden list',
    code: 'BOWLINE_API_FORBIDDEN',
    names: [
      'User "joe" cannot list resource "configmaps"',
      'grant this identity the verb list on configmaps of the core API group in the whole cluster',
    ],
  },
  {
    input: 'a certificate of the wrong CA',
    change: (text) => text.replace(/certificate-authority-data: \S+/, 'certificate-authority-data: OTHER'),
    code: 'BOWLINE_TRANSPORT_TLS_UNTRUSTED',
    names: [
      /the certificate of https:\/\/127\.0\.0\.1:\d+ \(context "here" of \S+\) is not signed by the certificate authority/,
      'check certificate-authority of the cluster entry',
    ],
  },
  {
    input: 'a certificate for another host',
    server: () => certified({ dnsNames: ['elsewhere'] }),
    code: 'BOWLINE_TRANSPORT_TLS_HOST_NAME',
    names: ['is not valid for this host name', 'tls-server-name'],
  },
  {
    input: 'a certificate that is not valid yet',
    server: () => certified({ ipAddresses: ['127.0.0.1'] }, Date.now() + 3_600_000),
    code: 'BOWLINE_TRANSPORT_TLS_EXPIRED',
    names: ['is not valid yet', "check this machine's clock"],
  },
  {
    input: 'a certificate that has expired',
    server: () => certified({ ipAddresses: ['127.0.0.1'] }, Date.now() - 60_000, 1000),
    code: 'BOWLINE_TRANSPORT_TLS_EXPIRED',
    names: ['has expired', "renew the server's certificate"],
  },
];

describe('bad input: the code and message name the problem and the fix', () => {
  test.each(rows)(
    '$input → $code',
    async ({ code, names, change = (text) => text, kind = ConfigMap, server = () => http2Server(handleStream) }) => {
      await using listening = await server();
      await using folder = await testFolder();
      const { authority } = await pki();
      const text = change(`
current-context: here
clusters: [{ name: c, cluster: { server: "${listening.config.server}", certificate-authority-data: ${Buffer.from(authority.certificatePem).toString('base64')} } }]
users: [{ name: joe, user: { token: canary-good } }]
contexts: [{ name: here, context: { cluster: c, user: joe } }]
`).replace('OTHER', await otherAuthority());
      const path = await folder.write('kubeconfig', text);
      const attempt = async (): Promise<unknown> => {
        await using transport = connect(await loadKubeconfig({ paths: [path] }));
        return await createClient({ transport }).list<Widget>(kind);
      };
      const error: unknown = await attempt().then(
        () => undefined,
        (problem: unknown) => problem,
      );
      expect(error).toMatchObject({ code });
      for (const name of names) expect((error as Error).message).toMatch(name);
      expect((error as Error).message).not.toContain('canary');
    },
  );
});

test('the client keeps working after a rejected call', async () => {
  await using server = await http2Server(handleStream);
  await using transport = connect({
    ...server.config,
    credentials: { headers: () => ({ authorization: 'Bearer canary-good' }), refresh: () => Promise.resolve(false) },
  });
  const client = createClient({ transport });
  await expect(client.list(ConfigMap)).rejects.toMatchObject({ code: 'BOWLINE_API_FORBIDDEN' });
  await expect(client.list<Widget>(Widget)).rejects.toMatchObject({ code: 'BOWLINE_API_KIND_NOT_SERVED' });
  expect((await client.list(ConfigMap, { namespace: 'mine' })).items).toEqual([]);
  expect(server.connections()).toBe(1);
});
