import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VirtualClock } from '@bowline/machinery';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { configOf } from '../../testing/config-of.test-support.ts';
import { FAKE_TOKEN_MS, FakeAzure } from '../../testing/fake-azure.test-support.ts';
import type { SecretRef } from '../provider.ts';
import { AzureProvider } from './azure-provider.ts';
import { config } from './config.ts';

let fake: FakeAzure;
let folder: string;
let clock: VirtualClock;
let stop: AbortController;

beforeEach(async () => {
  fake = await FakeAzure.start();
  folder = await mkdtemp(join(tmpdir(), 'azure-provider-'));
  clock = new VirtualClock();
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort();
  await fake[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const never = new AbortController().signal;

function provider(auth: object, env: Record<string, string> = {}): AzureProvider {
  return new AzureProvider({
    config: configOf(config, {
      vaults: { prod: fake.http.url, far: 'http://far.example.com' },
      defaultVault: 'prod',
      auth: { authorityHost: fake.http.url, metadataHost: fake.http.url, ...auth },
    }),
    env,
    clock,
    observe: () => {},
    signal: stop.signal,
  });
}

/** federated returns a provider with the environment that the webhook of workload identity injects into a pod. */
async function federated(assertion = 'fake-jwt'): Promise<AzureProvider> {
  const tokenFile = join(folder, 'token');
  await writeFile(tokenFile, `${assertion}\n`);
  fake.assertions.set(fake.clientId, 'fake-jwt');
  return provider(
    {},
    { AZURE_TENANT_ID: fake.tenantId, AZURE_CLIENT_ID: fake.clientId, AZURE_FEDERATED_TOKEN_FILE: tokenFile },
  );
}

const ref = (path: string, more: Partial<SecretRef> = {}): SecretRef => ({ path, namespace: 'team-a', ...more });

const exchanges = (): number => fake.http.calls.filter((call) => call.endsWith('/token')).length;

describe('a secret in Key Vault', () => {
  it('is read with a token from the federated credential, and has a version', async () => {
    const id = fake.put('db-password', '{"a":1}');
    const store = await federated();
    expect(await store.fetchSecret(ref('prod/db-password'), never)).toEqual({
      provider: 'azure-keyvault',
      sourcePath: 'prod/db-password',
      payload: { kind: 'text', text: '{"a":1}' },
      version: id,
    });
    expect(fake.http.calls).toEqual([`POST /${fake.tenantId}/oauth2/v2.0/token`, 'GET /secrets/db-password']);
  });

  it('is read in the requested version', async () => {
    const first = fake.put('x', 'one');
    fake.put('x', 'two');
    const store = await federated();
    expect(await store.fetchSecret(ref('x', { versionId: first }), never)).toMatchObject({
      payload: { text: 'one' },
      version: first,
    });
    await expect(store.fetchSecret(ref('x', { versionId: '../y' }), never)).rejects.toMatchObject({ kind: 'refused' });
  });

  it('that is missing, disabled or forbidden causes a distinct error, without ids', async () => {
    fake.put('off', 'v');
    fake.disable('off');
    fake.put('secret', 'v');
    fake.deny('secret');
    const store = await federated();
    await expect(store.fetchSecret(ref('missing'), never)).rejects.toMatchObject({
      kind: 'not-found',
      code: '404',
    });
    await expect(store.fetchSecret(ref('off'), never)).rejects.toMatchObject({
      kind: 'refused',
      message: 'off is disabled in Key Vault: enable it',
    });
    await expect(store.fetchSecret(ref('secret'), never)).rejects.toMatchObject({
      kind: 'denied',
      code: '403',
      message: expect.stringMatching(
        /\(ForbiddenByRbac\): grant the operator's identity the role Key Vault Secrets User/,
      ) as string,
    });
  });

  it('causes a transient error with the requested delay if Key Vault throttles', async () => {
    fake.put('x', 'v');
    const store = await federated();
    fake.http.fail(/^\/secrets/, { status: 429, headers: { 'retry-after': '7' } });
    await expect(store.fetchSecret(ref('x'), never)).rejects.toMatchObject({ kind: 'transient', retryAfterMs: 7000 });
    expect(await store.fetchSecret(ref('x'), never)).toMatchObject({ payload: { text: 'v' } });
  });

  it('is not requested without TLS, or from a vault that is not configured', async () => {
    const store = await federated();
    await expect(store.fetchSecret(ref('far/x'), never)).rejects.toMatchObject({ kind: 'refused', code: 'Address' });
    await expect(store.fetchSecret(ref('other/x'), never)).rejects.toThrow('(configured: prod, far)');
    expect(fake.http.calls).toEqual([]);
  });
});

describe('a token for Key Vault', () => {
  it('is reused until shortly before it expires', async () => {
    fake.put('x', 'v');
    const store = await federated();
    await Promise.all([1, 2, 3].map(() => store.fetchSecret(ref('x'), never)));
    await clock.advance(FAKE_TOKEN_MS - 301_000);
    await store.fetchSecret(ref('x'), never);
    expect(exchanges()).toBe(1);
    await clock.advance(1_000);
    await store.fetchSecret(ref('x'), never);
    expect(exchanges()).toBe(2);
  });

  it('is requested again if Key Vault rejects it', async () => {
    fake.put('x', 'v');
    const store = await federated();
    await store.fetchSecret(ref('x'), never);
    fake.revoke();
    await clock.advance(60_000);
    expect(await store.fetchSecret(ref('x'), never)).toMatchObject({ payload: { text: 'v' } });
    expect(exchanges()).toBe(2);
  });

  it('that is refused is reported with the error code of the authority, without ids, times and the assertion', async () => {
    const store = await federated('wrong-jwt');
    await expect(store.fetchSecret(ref('x'), never)).rejects.toMatchObject({
      kind: 'denied',
      operation: 'GetToken',
      code: '401',
      message:
        'cannot get a token for Key Vault: invalid_client, AADSTS700213; correct azure.auth, or the federated credential of the identity',
    });
  });

  it('is requested for the identity that the request specifies as role', async () => {
    fake.put('x', 'v');
    const role = randomUUID();
    fake.assertions.set(role, 'fake-jwt');
    const store = await federated();
    await store.fetchSecret(ref('x'), never);
    await store.fetchSecret(ref('x', { role }), never);
    expect(exchanges()).toBe(2);
    await expect(store.fetchSecret(ref('x', { role: 'reader' }), never)).rejects.toThrow('client id of an identity');
  });

  it('is requested with a client secret', async () => {
    fake.put('x', 'v');
    const { tenantId, clientId } = fake;
    const auth = { method: 'client-secret', tenantId, clientId };
    expect(await provider(auth, { AZURE_CLIENT_SECRET: fake.clientSecret }).fetchSecret(ref('x'), never)).toBeDefined();
    const wrong = provider(auth, { AZURE_CLIENT_SECRET: 'hidden' });
    await expect(wrong.fetchSecret(ref('x'), never)).rejects.toMatchObject({
      kind: 'denied',
      message: expect.not.stringContaining('hidden') as string,
    });
    await expect(provider(auth).fetchSecret(ref('x'), never)).rejects.toThrow('set AZURE_CLIENT_SECRET');
    await expect(wrong.fetchSecret(ref('x', { role: randomUUID() }), never)).rejects.toThrow('does not support role');
  });

  it('is requested from the metadata service, bypassing any proxy', async () => {
    fake.put('x', 'v');
    const env = { HTTP_PROXY: 'http://127.0.0.1:1', NO_PROXY: '' };
    const store = provider({ method: 'managed-identity' }, env);
    // The vault itself is behind the proxy, which does not exist.
    await expect(store.fetchSecret(ref('x'), never)).rejects.toMatchObject({
      kind: 'transient',
      operation: 'GetSecret',
    });
    expect(fake.http.calls).toEqual(['GET /metadata/identity/oauth2/token']);
    const near = provider({ method: 'managed-identity' });
    expect(await near.fetchSecret(ref('x'), never)).toMatchObject({ payload: { text: 'v' } });
  });
});
