import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { VirtualClock } from '@bowline/machinery';
import { expect, test } from 'vitest';
import type { Credentials } from '../transport/connection-config.ts';
import { execCredentials } from './exec-plugin.ts';
import { type TestFolder, testFolder } from './folder.test-support.ts';
import type { KubeconfigExec } from './kubeconfig.ts';

const V1 = 'client.authentication.k8s.io/v1';

/** A plugin that counts its runs in a file and prints RESPONSE with the count inserted. */
const PLUGIN = `#!${process.execPath}
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
appendFileSync(process.env.RUNS, 'x');
writeFileSync(process.env.RUNS + '.info', process.env.KUBERNETES_EXEC_INFO);
const count = String(readFileSync(process.env.RUNS).length);
if (process.env.COMPLAINT) { process.stderr.write(process.env.COMPLAINT); process.exit(3); }
process.stdout.write(process.env.RESPONSE.replaceAll('#', count) + process.argv.slice(2).join(''));
`;

interface Plugin {
  readonly credentials: Credentials;
  readonly runs: () => Promise<number>;
  readonly info: () => Promise<unknown>;
}

async function plugin(
  folder: TestFolder,
  response: string | object,
  change: Partial<KubeconfigExec> & { complaint?: string; wire?: VirtualClock } = {},
): Promise<Plugin> {
  await folder.write('plugin.mjs', PLUGIN, 0o700);
  const runs = join(folder.path, 'runs');
  const { complaint = '', wire = new VirtualClock(), ...exec } = change;
  const text = typeof response === 'string' ? response : JSON.stringify(response);
  const credentials = execCredentials({
    exec: {
      apiVersion: V1,
      command: './plugin.mjs',
      args: [],
      env: { RUNS: runs, RESPONSE: text, COMPLAINT: complaint },
      provideClusterInfo: false,
      interactiveMode: 'IfAvailable',
      ...exec,
    },
    source: 'user "u" of /config',
    folder: folder.path,
    cluster: {
      file: join(folder.path, 'config'),
      value: { server: 'https://h:6443', certificateAuthorityData: 'Q0E=', execConfig: { audience: 'x' } },
    },
    env: { PATH: '/nonexistent' },
    wire,
  });
  return {
    credentials,
    runs: () =>
      readFile(runs, 'utf8').then(
        (written) => written.length,
        () => 0,
      ),
    info: async () => JSON.parse(await readFile(`${runs}.info`, 'utf8')) as unknown,
  };
}

function token(value: string, more: object = {}): object {
  return { apiVersion: V1, kind: 'ExecCredential', status: { token: value, ...more } };
}

test('runs the plugin once for all waiting requests and caches the token until it expires', async () => {
  await using folder = await testFolder();
  const wire = new VirtualClock({ startMs: Date.parse('2026-01-01T00:00:00Z') });
  const { credentials, runs } = await plugin(folder, token('t#', { expirationTimestamp: '2026-01-01T00:10:00Z' }), {
    wire,
  });
  const all = await Promise.all([credentials.headers(), credentials.headers(), credentials.certificate?.()]);
  expect(all).toEqual([{ authorization: 'Bearer t1' }, { authorization: 'Bearer t1' }, undefined]);
  await wire.advance(599_000);
  expect(await credentials.headers()).toEqual({ authorization: 'Bearer t1' });
  await wire.advance(1000);
  // The plugin still returns an expiry in the past: the new token is used and requested again.
  expect(await credentials.headers()).toEqual({ authorization: 'Bearer t2' });
  expect(await runs()).toBe(2);
});

test('runs again after a 401 unless another request has already done so', async () => {
  await using folder = await testFolder();
  const { credentials, runs } = await plugin(folder, token('t#'));
  await credentials.headers();
  const rejected = { headers: { authorization: 'Bearer t1' }, certificatePem: undefined };
  expect(await Promise.all([credentials.refresh(rejected), credentials.refresh(rejected)])).toEqual([true, true]);
  expect(await credentials.refresh(rejected)).toBe(true);
  expect(await credentials.headers()).toEqual({ authorization: 'Bearer t2' });
  expect(await runs()).toBe(2);
});

test('accepts a certificate, and passes the arguments and the cluster information to the plugin', async () => {
  await using folder = await testFolder();
  const credential = { apiVersion: V1, status: { clientCertificateData: 'CERT', clientKeyData: 'KEY' } };
  const text = JSON.stringify(credential).slice(0, -1);
  const { credentials, info } = await plugin(folder, text, { args: ['}'], provideClusterInfo: true });
  expect(await credentials.certificate?.()).toEqual({ certificatePem: 'CERT', keyPem: 'KEY' });
  expect(await credentials.headers()).toEqual({});
  expect(await info()).toEqual({
    apiVersion: V1,
    kind: 'ExecCredential',
    spec: {
      interactive: false,
      cluster: { server: 'https://h:6443', 'certificate-authority-data': 'Q0E=', config: { audience: 'x' } },
    },
  });
});

test.each<[string, string | object, Parameters<typeof plugin>[2], string]>([
  ['prints no JSON', 'canary', {}, 'its output is not JSON; run it manually'],
  [
    'uses another version',
    { apiVersion: `${V1}beta1`, status: { token: 'canary' } },
    {},
    `did not print an ExecCredential of ${V1}`,
  ],
  ['returns nothing', token(''), {}, 'neither a token nor a certificate'],
  [
    'returns a certificate without a key',
    { apiVersion: V1, status: { clientCertificateData: 'canary' } },
    {},
    'a certificate without a key',
  ],
  [
    'fails',
    '',
    { complaint: `please log in ${'canary'.repeat(8)}` },
    'it exited with code 3 and printed: please log in ***',
  ],
  [
    'is not installed',
    '',
    { command: 'bowline-no-such-plugin', installHint: 'see example.com' },
    'it cannot be started (ENOENT); install it (see example.com)',
  ],
  ['needs a terminal', token('x'), { interactiveMode: 'Always' }, 'it needs a terminal (interactiveMode: Always)'],
])('names the plugin and its user when it %s, without quoting its output', async (_, response, change, text) => {
  await using folder = await testFolder();
  const { credentials } = await plugin(folder, response, change);
  const error: unknown = await Promise.resolve(credentials.headers()).catch((problem: unknown) => problem);
  expect(error).toMatchObject({ code: 'BOWLINE_CREDENTIALS_EXEC' });
  expect(String(error)).toContain('of user "u" of /config returned no credentials: ');
  expect(String(error)).toContain(text);
  expect(String(error)).not.toContain('canary');
});

test('kills a plugin that does not exit', async () => {
  await using folder = await testFolder();
  const wire = new VirtualClock();
  const script = await folder.write('hang.mjs', `#!${process.execPath}\nsetInterval(() => {}, 1000);\n`, 0o700);
  const { credentials } = await plugin(folder, '', { command: script, wire });
  const failed = expect(Promise.resolve(credentials.headers())).rejects.toThrow('it did not exit within 60 s');
  while (wire.pendingTimers === 0) await new Promise<void>((resolve) => setImmediate(resolve));
  await wire.advance(60_000);
  await failed;
});
