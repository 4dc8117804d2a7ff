import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VirtualClock } from '@bowline/machinery';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Fault } from '../../../../../test/support/fault-proxy/fault.ts';
import { FaultProxy } from '../../../../../test/support/fault-proxy/fault-proxy.ts';
import { ensureVault } from '../../../../../test/support/vault/ensure-vault.ts';
import { type RunningVault, startVault } from '../../../../../test/support/vault/start-vault.ts';
import { configOf } from '../../testing/config-of.test-support.ts';
import { providerContract } from '../contract.test-support.ts';
import type { ProviderContext, SecretRef } from '../provider.ts';
import { config } from './config.ts';
import { vault as kind } from './kind.ts';
import { VaultProvider } from './vault-provider.ts';

const never = new AbortController().signal;

let skippedBecause: string | undefined;
let vault: RunningVault;
let proxy: FaultProxy;
let folder: string;
let stop: AbortController;
let clock: VirtualClock;

beforeAll(async () => {
  const found = await ensureVault();
  if ('skippedBecause' in found) {
    skippedBecause = found.skippedBecause;
    return;
  }
  vault = await startVault(found.program);
  proxy = await FaultProxy.start({ upstream: { server: vault.url, ca: vault.ca, source: 'Vault' } });
  folder = await mkdtemp(join(tmpdir(), 'vault-provider-'));
  const { ca } = await proxy.connection('jasm');
  await writeFile(join(folder, 'ca.pem'), String(ca));
  await vault.administer('POST', 'sys/mounts/kv', { type: 'kv', options: { version: '1' } });
  await vault.administer('POST', 'sys/auth/approle', { type: 'approle' });
  await allowApp();
  await vault.administer('POST', 'auth/approle/role/app', { token_policies: ['app'], token_ttl: '1h' });
}, 1_800_000);
afterAll(async () => {
  if (skippedBecause !== undefined) return;
  await proxy.close();
  await vault[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});
beforeEach((context) => {
  if (skippedBecause !== undefined) return context.skip(skippedBecause);
  stop = new AbortController();
  clock = new VirtualClock();
  proxy.schedule = () => undefined;
  return () => stop.abort();
});

/** allowApp allows the role app to read some secrets and, in one folder, their metadata, except for the denied ones. */
async function allowApp(...denied: readonly string[]): Promise<void> {
  const policy = [
    'path "secret/data/app/*" { capabilities = ["read"] }',
    'path "secret/metadata/app/open/*" { capabilities = ["read"] }',
    ...denied.map((path) => `path "${path}" { capabilities = ["deny"] }`),
  ].join('\n');
  await vault.administer('PUT', 'sys/policies/acl/app', { policy });
}

const ref = (path: string, more: Partial<SecretRef> = {}): SecretRef => ({ path, namespace: 'team-a', ...more });

/** provider returns a provider that calls Vault through the fault proxy. */
async function provider(
  auth: object,
  env: Record<string, string> = {},
  observed: string[] = [],
): Promise<VaultProvider> {
  const { server } = await proxy.connection('jasm');
  const section = { address: server, caFile: join(folder, 'ca.pem'), kv1Mounts: ['kv'], auth };
  const observe: ProviderContext<unknown>['observe'] = ({ operation, code }) => observed.push(`${operation} ${code}`);
  return new VaultProvider({ config: configOf(config, section), env, clock, observe, signal: stop.signal });
}

const asRoot = (): Promise<VaultProvider> => provider({ method: 'token' }, { VAULT_TOKEN: vault.rootToken });

/** asApp returns a provider that logs in with AppRole. */
async function asApp(observed: string[] = []): Promise<VaultProvider> {
  const { roleId, secretId } = await appRole();
  return provider({ method: 'approle', roleId }, { VAULT_SECRET_ID: secretId }, observed);
}

async function appRole(): Promise<{ readonly roleId: string; readonly secretId: string }> {
  const { body: id } = await vault.administer('GET', 'auth/approle/role/app/role-id');
  const { body: secret } = await vault.administer('POST', 'auth/approle/role/app/secret-id');
  return {
    roleId: (id as { data: { role_id: string } }).data.role_id,
    secretId: (secret as { data: { secret_id: string } }).data.secret_id,
  };
}

/** put writes a version of a secret of KV version 2, from JSON text. */
const put = (name: string, data: string) => vault.administer('POST', `secret/data/${name}`, `{"data":${data}}`);

describe('a secret in a real Vault', () => {
  it('is read from KV version 2 unchanged, with the version of the probe', async () => {
    // Vault itself rounds numbers in this engine version.
    await put('numbers', '{"id":12345678901234567890,"ratio":1.10,"text":"ä\\n"}');
    const store = await asRoot();
    const secret = await store.fetchSecret(ref('secret/data/numbers'), never);
    expect(secret.payload).toEqual({ kind: 'text', text: '{"id":12345678901234567000,"ratio":1.1,"text":"ä\\n"}' });
    expect(secret.version).toMatch(/^1@20\d\d-/);
    expect(await store.probeVersion(ref('secret/data/numbers'), never)).toBe(secret.version);
  });

  it('is read from KV version 1 with numbers as written', async () => {
    await vault.administer('POST', 'kv/app', '{"id":12345678901234567890,"ratio":1.10}');
    const store = await asRoot();
    const secret = await store.fetchSecret(ref('kv/app'), never);
    expect(secret.payload).toEqual({ kind: 'text', text: '{"id":12345678901234567890,"ratio":1.10}' });
    expect(secret.version).toBeUndefined();
    await expect(store.fetchSecret(ref('kv/missing'), never)).rejects.toMatchObject({ kind: 'not-found' });
  });

  it('is read by version, and is distinguished when deleted, destroyed or recreated', async () => {
    await put('life', '{"v":1}');
    await put('life', '{"v":2}');
    const store = await asRoot();
    const first = await store.fetchSecret(ref('secret/life', { versionId: '1' }), never);
    expect(first.payload).toMatchObject({ text: '{"v":1}' });
    expect(await store.probeVersion(ref('secret/life', { versionId: '1' }), never)).toBe(first.version);
    await vault.administer('DELETE', 'secret/data/life');
    await expect(store.fetchSecret(ref('secret/life'), never)).rejects.toThrow(
      /^version 2 of secret\/life in Vault is deleted/,
    );
    expect(await store.probeVersion(ref('secret/life'), never)).toBeUndefined();
    await vault.administer('PUT', 'secret/destroy/life', { versions: [2] });
    await expect(store.fetchSecret(ref('secret/life'), never)).rejects.toThrow(/is destroyed/);
    await expect(store.fetchSecret(ref('secret/life', { versionId: '9' }), never)).rejects.toMatchObject({
      kind: 'not-found',
    });
    await vault.administer('DELETE', 'secret/metadata/life');
    await expect(store.fetchSecret(ref('secret/life'), never)).rejects.toThrow(
      'Vault has no secret at secret/data/life',
    );
    await expect(store.probeVersion(ref('secret/life'), never)).rejects.toMatchObject({ kind: 'not-found' });
    await put('life', '{"v":1}');
    const again = await store.probeVersion(ref('secret/life', { versionId: '1' }), never);
    expect(again).toMatch(/^1@/);
    expect(again).not.toBe(first.version);
  });

  it('is not found in a mount that does not exist', async () => {
    const store = await asRoot();
    await expect(store.fetchSecret(ref('nowhere/x'), never)).rejects.toMatchObject({
      kind: 'not-found',
      message: expect.stringContaining('the mount does not exist') as string,
    });
  });

  it('is read as far as the policy of an AppRole allows', async () => {
    await put('app/db', '{"v":1}');
    await put('app/open/db', '{"v":1}');
    await put('other', '{"v":1}');
    const store = await asApp();
    expect(await store.fetchSecret(ref('secret/app/db'), never)).toMatchObject({ payload: { text: '{"v":1}' } });
    expect(await store.probeVersion(ref('secret/app/db'), never)).toBeUndefined();
    expect(await store.probeVersion(ref('secret/app/open/db'), never)).toMatch(/^1@/);
    await expect(store.fetchSecret(ref('secret/other'), never)).rejects.toMatchObject({
      kind: 'denied',
      message: expect.stringContaining('path "secret/data/other" { capabilities = ["read"] }') as string,
    });
  });

  it('is read after Vault has revoked the session', async () => {
    await put('app/db', '{"v":1}');
    const store = await asApp();
    await store.fetchSecret(ref('secret/app/db'), never);
    await vault.administer('POST', 'sys/leases/revoke-prefix/auth/approle/login');
    await clock.advance(60_000);
    expect(await store.fetchSecret(ref('secret/app/db'), never)).toMatchObject({ payload: { text: '{"v":1}' } });
  });

  it('is not read with an unknown AppRole or token, and no message contains them', async () => {
    const proofs = [
      await provider({ method: 'approle', roleId: 'unknown' }, { VAULT_SECRET_ID: 'hidden-proof' }),
      await provider({ method: 'token' }, { VAULT_TOKEN: 'hidden-proof' }),
    ];
    for (const store of proofs) {
      await expect(store.fetchSecret(ref('secret/app/db'), never)).rejects.toMatchObject({
        kind: 'denied',
        message: expect.not.stringContaining('hidden-proof') as string,
      });
    }
  });

  it('causes a transient error if the network fails or Vault is busy', async () => {
    await put('app/db', '{"v":1}');
    const store = await asRoot();
    const faults = [
      { kind: 'answer', status: 503 },
      { kind: 'answer', status: 429, retryAfterSeconds: 2 },
      { kind: 'drop', when: 'before' },
      { kind: 'drop', when: 'answer' },
    ] as const;
    for (const fault of faults) {
      proxy.schedule = () => fault;
      await expect(store.fetchSecret(ref('secret/app/db'), never)).rejects.toMatchObject({
        kind: 'transient',
        retryAfterMs: fault.kind === 'answer' && fault.status === 429 ? 2000 : undefined,
      });
    }
    proxy.schedule = () => undefined;
    expect(await store.fetchSecret(ref('secret/app/db'), never)).toMatchObject({ payload: { text: '{"v":1}' } });
  });
});

/** Each test of the contract has secrets of its own. */
let corners = 0;

providerContract('a real Vault', {
  invalidPaths: ['', 'secret', 'secret/../x'],
  names: (path) => kind.names(path, configOf(config)),
  setup: async () => {
    const corner = `secret/data/app/open/${String(++corners)}`;
    const observed: string[] = [];
    const write = ({ path }: SecretRef, data: object) => vault.administer('POST', path, { data });
    /** Resolves when the fault has hit a call. */
    const once = (fault: Fault) =>
      new Promise<void>((resolve) => {
        proxy.schedule = () => {
          proxy.schedule = () => undefined;
          resolve();
          return fault;
        };
      });
    return {
      provider: await asApp(observed),
      observed,
      credentials: ['hvs.'],
      ref: (word) => ref(`${corner}/${word}`),
      put: write,
      putEmpty: (each) => write(each, {}),
      remove: ({ path }) => vault.administer('DELETE', path.replace('/data/', '/metadata/')),
      deny: ({ path }) => allowApp(path),
      failOnce: (how) => {
        void once(how === 'status' ? { kind: 'answer', status: 503 } : { kind: 'drop', when: 'before' });
      },
      hangOnce: () => once({ kind: 'half-open' }),
      [Symbol.asyncDispose]: () => allowApp(),
    };
  },
});
