import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import type { ConnectionConfig } from '../transport/connection-config.ts';
import { testFolder } from './folder.test-support.ts';
import { defaultKubeconfigPaths, loadKubeconfig } from './load-kubeconfig.ts';

const PEM = '-----BEGIN CERTIFICATE-----\nQQ==\n-----END CERTIFICATE-----\n';
const DATA = Buffer.from(PEM).toString('base64');

/** kubeconfig returns a file with one context and the given cluster and user fields. */
function kubeconfig(cluster: string, user: string): string {
  return `
apiVersion: v1
kind: Config
current-context: here
clusters: [{ name: c, cluster: { ${cluster} } }]
users: [{ name: u, user: { ${user} } }]
contexts: [{ name: here, context: { cluster: c, user: u, namespace: work } }]
`;
}

async function load(cluster: string, user: string): Promise<ConnectionConfig> {
  await using folder = await testFolder();
  await folder.write('ca.pem', PEM);
  await folder.write('token', 'from-file\n');
  return await loadKubeconfig({ paths: [await folder.write('config', kubeconfig(cluster, user))] });
}

const SERVER = 'server: "https://127.0.0.1:6443"';
const used = { headers: {}, certificatePem: undefined };

test('reads server, CA, proxy, namespace and source', async () => {
  const config = await load(
    `${SERVER}, certificate-authority-data: ${DATA}, tls-server-name: api, proxy-url: "http://proxy:3128", insecure-skip-tls-verify: true`,
    'token: abc',
  );
  expect(config).toMatchObject({
    server: 'https://127.0.0.1:6443',
    serverName: 'api',
    proxyUrl: 'http://proxy:3128',
    insecureSkipTlsVerify: true,
    namespace: 'work',
    source: expect.stringMatching(/^context "here" of .*config$/) as string,
  });
  expect(typeof config.ca === 'function' && (await config.ca())).toBe(PEM);
});

test('reads JSON, and files relative to it', async () => {
  await using folder = await testFolder();
  await folder.write('ca.pem', PEM);
  await folder.write('token', 'from-file\n');
  const path = await folder.write(
    'config.json',
    JSON.stringify({
      clusters: [{ name: 'c', cluster: { server: 'https://h', 'certificate-authority': 'ca.pem' } }],
      users: [{ name: 'u', user: { tokenFile: 'token' } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    }),
  );
  const config = await loadKubeconfig({ paths: [path], context: 'x' });
  expect(typeof config.ca === 'function' && (await config.ca())).toBe(PEM);
  expect(await config.credentials?.headers()).toEqual({ authorization: 'Bearer from-file' });
});

test('returns token, password, certificate and impersonation of the user', async () => {
  expect(await (await load(SERVER, 'token: abc')).credentials?.headers()).toEqual({ authorization: 'Bearer abc' });
  expect(await (await load(SERVER, 'username: me, password: pw')).credentials?.headers()).toEqual({
    authorization: `Basic ${Buffer.from('me:pw').toString('base64')}`,
  });
  const both = await load(SERVER, `token: abc, client-certificate-data: ${DATA}, client-key-data: ${DATA}`);
  expect(await both.credentials?.headers()).toEqual({ authorization: 'Bearer abc' });
  expect(await both.credentials?.certificate?.()).toEqual({ certificatePem: PEM, keyPem: PEM });
  expect(await both.credentials?.refresh({ headers: {}, certificatePem: PEM })).toBe(false);
  expect(
    (await load(SERVER, 'as: jane, as-groups: [dev], as-uid: "7", as-user-extra: { scope: [a] }')).impersonate,
  ).toEqual({
    user: 'jane',
    uid: '7',
    groups: ['dev'],
    extra: { scope: ['a'] },
  });
  expect((await load(SERVER, '')).credentials).toBeUndefined();
});

test('detects a renewed client certificate file', async () => {
  await using folder = await testFolder();
  const certificate = await folder.write('client.pem', PEM);
  await folder.write('client.key', PEM);
  const path = await folder.write(
    'config',
    kubeconfig(SERVER, 'client-certificate: client.pem, client-key: client.key'),
  );
  const { credentials } = await loadKubeconfig({ paths: [path] });
  const before = await credentials?.certificate?.();
  expect(await credentials?.refresh({ headers: {}, certificatePem: before?.certificatePem })).toBe(false);
  await folder.write('client.pem', PEM.replace('QQ', 'QU'));
  expect(await credentials?.refresh({ headers: {}, certificatePem: before?.certificatePem })).toBe(true);
  expect(certificate).toContain('client.pem');
});

test('prefers the first file that defines an entry, and ignores a missing file', async () => {
  await using folder = await testFolder();
  const first = await folder.write('first', kubeconfig('server: "https://first"', 'token: one'));
  const second = await folder.write(
    'second',
    `${kubeconfig('server: "https://second"', 'token: two')}`
      .replace('current-context: here', 'current-context: other')
      .replaceAll('name: here', 'name: other'),
  );
  const paths = [join(folder.path, 'absent'), first, second];
  expect((await loadKubeconfig({ paths })).server).toBe('https://first');
  const other = await loadKubeconfig({ paths, context: 'other' });
  expect([other.server, await other.credentials?.headers()]).toEqual([
    'https://first',
    { authorization: 'Bearer one' },
  ]);
  expect(other.source).toBe(`context "other" of ${second}`);
});

test('returns the files that kubectl would read', () => {
  expect(defaultKubeconfigPaths({ env: {}, home: '/home/me' })).toEqual(['/home/me/.kube/config']);
  expect(defaultKubeconfigPaths({ env: { KUBECONFIG: `/a${delimiter}${delimiter}/b` }, home: '/home/me' })).toEqual([
    '/a',
    '/b',
  ]);
});

test.each([
  [
    'no server',
    '',
    '',
    'BOWLINE_KUBECONFIG_INVALID',
    'clusters[0].cluster.server is missing; set the API server as https://host:port',
  ],
  [
    'a server that is not a URL',
    'server: "10.0.0.1"',
    '',
    'BOWLINE_KUBECONFIG_INVALID',
    'clusters[0].cluster.server is not a URL',
  ],
  [
    'a socks proxy',
    `${SERVER}, proxy-url: "socks5://p"`,
    '',
    'BOWLINE_KUBECONFIG_INVALID',
    'clusters[0].cluster.proxy-url must start with http://',
  ],
  [
    'a CA that is not PEM',
    `${SERVER}, certificate-authority-data: Y2FuYXJ5`,
    '',
    'BOWLINE_KUBECONFIG_INVALID',
    'cluster "c": certificate-authority-data is not base64-encoded PEM',
  ],
  [
    'a certificate without a key',
    SERVER,
    `client-certificate-data: ${DATA}`,
    'BOWLINE_KUBECONFIG_INVALID',
    'user "u" has a client certificate but no client key; set both',
  ],
  [
    'a token that is not a string',
    SERVER,
    'token: [canary]',
    'BOWLINE_KUBECONFIG_INVALID',
    'users[0].user.token must be a string',
  ],
  [
    'an auth-provider',
    SERVER,
    'auth-provider: { name: gcp }',
    'BOWLINE_KUBECONFIG_INVALID',
    'users[0].user.auth-provider is no longer supported by Kubernetes clients; use an exec plugin',
  ],
  [
    'an old exec plugin',
    SERVER,
    'exec: { apiVersion: client.authentication.k8s.io/v1alpha1, command: x }',
    'BOWLINE_KUBECONFIG_INVALID',
    'users[0].user.exec.apiVersion must be client.authentication.k8s.io/v1 or v1beta1',
  ],
])('names the file and the field of %s, and the fix', async (_, cluster, user, code, text) => {
  const error: unknown = await load(cluster, user).catch((problem: unknown) => problem);
  expect(error).toMatchObject({ code });
  expect(String(error)).toMatch(/kubeconfig \S+config: /);
  expect(String(error)).toContain(text);
  expect(String(error)).not.toContain('canary');
});

test('names missing files, contexts, clusters and users', async () => {
  await using folder = await testFolder();
  const absent = join(folder.path, 'absent');
  await expect(loadKubeconfig({ paths: [absent] })).rejects.toMatchObject({
    code: 'BOWLINE_KUBECONFIG_NOT_FOUND',
    message: `no kubeconfig at ${absent}: create one, or specify another file`,
  });
  await expect(loadKubeconfig({ paths: [folder.path] })).rejects.toMatchObject({
    code: 'BOWLINE_KUBECONFIG_NOT_FOUND',
  });
  const path = await folder.write('config', kubeconfig(SERVER, ''));
  await expect(loadKubeconfig({ paths: [path], context: 'prod' })).rejects.toMatchObject({
    code: 'BOWLINE_KUBECONFIG_CONTEXT',
    message: `kubeconfig ${path} has no context "prod": choose one of here`,
  });
  const dangling = await folder.write('dangling', kubeconfig(SERVER, '').replace('cluster: c,', 'cluster: gone,'));
  await expect(loadKubeconfig({ paths: [dangling] })).rejects.toThrow(
    'refers to the cluster "gone", which is not in clusters',
  );
  const unknownUser = await folder.write('unknown-user', kubeconfig(SERVER, '').replace('user: u,', 'user: gone,'));
  await expect(loadKubeconfig({ paths: [unknownUser] })).rejects.toThrow(
    'refers to the user "gone", which is not in users',
  );
  const withoutCurrentContext = await folder.write(
    'no-current-context',
    kubeconfig(SERVER, '').replace('current-context: here', ''),
  );
  await expect(loadKubeconfig({ paths: [withoutCurrentContext] })).rejects.toThrow('choose one of here');
});

test('names the line of invalid YAML without quoting it', async () => {
  await using folder = await testFolder();
  const path = await folder.write('config', 'clusters:\n  - name: c\n   token: "canary\n');
  const error: unknown = await loadKubeconfig({ paths: [path] }).catch((problem: unknown) => problem);
  expect(error).toMatchObject({ code: 'BOWLINE_KUBECONFIG_INVALID' });
  expect(String(error)).toMatch(/not valid YAML at line \d/);
  expect(String(error)).not.toContain('canary');
});

test('names the unreadable file that a field refers to', async () => {
  const config = await load(`${SERVER}, certificate-authority: missing.pem`, '');
  await expect(typeof config.ca === 'function' ? config.ca() : Promise.resolve()).rejects.toMatchObject({
    code: 'BOWLINE_CREDENTIALS_FILE',
    message: expect.stringMatching(/missing\.pem \(certificate-authority of cluster "c" in .*ENOENT/) as string,
  });
});

test('never refreshes credentials that cannot change', async () => {
  expect(await (await load(SERVER, 'token: abc')).credentials?.refresh(used)).toBe(false);
  expect(await (await load(SERVER, 'username: a')).credentials?.refresh(used)).toBe(false);
});
