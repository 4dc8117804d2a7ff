import { rm } from 'node:fs/promises';
import { VirtualClock } from '@bowline/machinery';
import { expect, test } from 'vitest';
import { testFolder } from './folder.test-support.ts';
import { inClusterConfig, isInCluster } from './in-cluster.ts';
import { tokenFileCredentials } from './token-file.ts';

function rejected(token: string): { headers: { authorization: string }; certificatePem: undefined } {
  return { headers: { authorization: `Bearer ${token}` }, certificatePem: undefined };
}

test('reads a token file again after a minute but not earlier', async () => {
  await using folder = await testFolder();
  const wire = new VirtualClock();
  const path = await folder.write('token', 'one\n');
  const credentials = tokenFileCredentials({ path, source: 'test', wire });
  expect(await credentials.headers()).toEqual({ authorization: 'Bearer one' });
  await folder.write('token', 'two\n');
  await wire.advance(59_000);
  expect(await credentials.headers()).toEqual({ authorization: 'Bearer one' });
  await wire.advance(1000);
  expect(await credentials.headers()).toEqual({ authorization: 'Bearer two' });
});

test('reads the file immediately after a 401 and returns whether the token changed', async () => {
  await using folder = await testFolder();
  const path = await folder.write('token', 'one');
  const credentials = tokenFileCredentials({ path, source: 'test', wire: new VirtualClock() });
  await credentials.headers();
  expect(await credentials.refresh(rejected('one'))).toBe(false);
  await folder.write('token', 'two');
  expect(await credentials.refresh(rejected('one'))).toBe(true);
  expect(await credentials.refresh(rejected('one'))).toBe(true);
  expect(await credentials.headers()).toEqual({ authorization: 'Bearer two' });
});

test('keeps using the last token while the file is missing, but fails without a first one', async () => {
  await using folder = await testFolder();
  const wire = new VirtualClock();
  const path = await folder.write('token', 'one');
  const credentials = tokenFileCredentials({ path, source: 'test', wire });
  await credentials.headers();
  await rm(path);
  await wire.advance(60_000);
  expect(await credentials.headers()).toEqual({ authorization: 'Bearer one' });
  const fresh = tokenFileCredentials({ path, source: 'tokenFile of user "u" of /config', wire });
  await expect(Promise.resolve(fresh.headers())).rejects.toMatchObject({
    code: 'BOWLINE_CREDENTIALS_FILE',
    message: expect.stringContaining('tokenFile of user "u" of /config') as string,
  });
  const fallback = tokenFileCredentials({ path, source: 'test', wire, fallback: 'spare' });
  expect(await fallback.headers()).toEqual({ authorization: 'Bearer spare' });
});

test('returns the connection config for the service account of a pod, and reads rotated files again', async () => {
  await using folder = await testFolder();
  await folder.write('token', 'one');
  await folder.write('ca.crt', 'CA 1');
  await folder.write('namespace', 'bowline-system\n');
  const wire = new VirtualClock();
  const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
  const config = await inClusterConfig({ env, folder: folder.path, wire });
  expect(config).toMatchObject({ server: 'https://[fd00::1]:443', namespace: 'bowline-system' });
  await folder.write('token', 'two');
  await folder.write('ca.crt', 'CA 2');
  await wire.advance(60_000);
  expect(await config.credentials?.headers()).toEqual({ authorization: 'Bearer two' });
  expect(typeof config.ca === 'function' && (await config.ca())).toBe('CA 2');
});

test('reports what is missing outside a pod, and in a pod without a mounted token', async () => {
  await using folder = await testFolder();
  const env = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };
  expect([isInCluster({}), isInCluster(env)]).toEqual([false, true]);
  await expect(inClusterConfig({ env: {} })).rejects.toMatchObject({
    code: 'BOWLINE_NOT_IN_CLUSTER',
    message: expect.stringContaining('use a kubeconfig') as string,
  });
  await expect(inClusterConfig({ env, folder: folder.path })).rejects.toMatchObject({
    code: 'BOWLINE_CREDENTIALS_FILE',
  });
  await folder.write('token', 'one');
  await expect(inClusterConfig({ env, folder: folder.path })).rejects.toMatchObject({
    code: 'BOWLINE_CREDENTIALS_FILE',
    message: expect.stringContaining('automountServiceAccountToken') as string,
  });
});
