import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VirtualClock } from '@bowline/machinery';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { configOf } from '../../testing/config-of.test-support.ts';
import { FAKE_LEASE_MS, FakeVault } from '../../testing/fake-vault.test-support.ts';
import type { SecretRef } from '../provider.ts';
import { config } from './config.ts';
import { VaultProvider } from './vault-provider.ts';

let fake: FakeVault;
let folder: string;
let clock: VirtualClock;
let stop: AbortController;
let observed: string[];

beforeEach(async () => {
  fake = await FakeVault.start();
  folder = await mkdtemp(join(tmpdir(), 'vault-provider-'));
  clock = new VirtualClock();
  stop = new AbortController();
  observed = [];
});
afterEach(async () => {
  stop.abort();
  await fake[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const never = new AbortController().signal;

function provider(section: object, env: Record<string, string> = {}): VaultProvider {
  return new VaultProvider({
    config: configOf(config, { address: fake.http.url, kv1Mounts: ['kv'], ...section }),
    env,
    clock,
    observe: ({ operation, code }) => observed.push(`${operation} ${code}`),
    signal: stop.signal,
  });
}

/** asRoot returns a provider that may read everything. */
const asRoot = (section: object = {}): VaultProvider =>
  provider({ ...section, auth: { method: 'token' } }, { VAULT_TOKEN: fake.rootToken });

/** asRole returns a provider that logs in with Kubernetes as the role app, unless a request names another. */
async function asRole(): Promise<VaultProvider> {
  const tokenFile = join(folder, 'service-account');
  await writeFile(tokenFile, 'fake-jwt\n');
  fake.kubernetesRoles.set('app', 'fake-jwt').set('other', 'fake-jwt');
  return provider({ auth: { role: 'app', tokenFile } });
}

const ref = (path: string, more: Partial<SecretRef> = {}): SecretRef => ({ path, namespace: 'team-a', ...more });

const logins = (): number => fake.http.calls.filter((call) => call.endsWith('/login')).length;

describe('a secret in Vault', () => {
  it('is read from KV version 2 with numbers as written, and its version consists of number and time', async () => {
    fake.put('secret', 'app/db', '{"id": 12345678901234567890, "ratio": 1.10}');
    const secret = await asRoot().fetchSecret(ref('secret/data/app/db'), never);
    expect(secret).toEqual({
      provider: 'vault',
      sourcePath: 'secret/data/app/db',
      payload: { kind: 'text', text: '{"id": 12345678901234567890, "ratio": 1.10}' },
      version: '1@2026-01-01T00:00:00.000000001Z',
    });
    expect(fake.http.calls).toEqual(['GET /v1/secret/data/app/db']);
    expect(observed).toEqual(['ReadSecret OK']);
  });

  it('is read from KV version 1, which has no versions', async () => {
    fake.put('kv', 'app', { a: 'b' });
    const store = asRoot();
    expect(await store.fetchSecret(ref('kv/app'), never)).toMatchObject({
      payload: { text: '{"a":"b"}' },
      version: undefined,
    });
    expect(await store.probeVersion(ref('kv/app'), never)).toBeUndefined();
    expect(fake.http.calls).toEqual(['GET /v1/kv/app']);
    await expect(store.fetchSecret(ref('kv/app', { versionId: '1' }), never)).rejects.toMatchObject({
      kind: 'refused',
    });
  });

  it('is read in the requested version', async () => {
    fake.put('secret', 'x', { v: 1 });
    fake.put('secret', 'x', { v: 2 });
    const first = await asRoot().fetchSecret(ref('secret/data/x', { versionId: '1' }), never);
    expect(first).toMatchObject({ payload: { text: '{"v":1}' }, version: expect.stringMatching(/^1@/) as string });
    await expect(asRoot().fetchSecret(ref('secret/data/x', { versionId: 'latest' }), never)).rejects.toThrow(
      'must be the number of a version',
    );
  });

  it('is probed by its metadata, and has another version when it is recreated', async () => {
    fake.put('secret', 'x', { v: 1 });
    const store = asRoot();
    const { version } = await store.fetchSecret(ref('secret/data/x'), never);
    expect(await store.probeVersion(ref('secret/data/x'), never)).toBe(version);
    expect(await store.probeVersion(ref('secret/data/x', { versionId: '1' }), never)).toBe(version);
    fake.remove('secret', 'x');
    fake.put('secret', 'x', { v: 2 });
    const again = await store.probeVersion(ref('secret/data/x'), never);
    expect(again).toMatch(/^1@/);
    expect(again).not.toBe(version);
  });

  it.each([
    ['deleted', /^version 1 of secret\/data\/x in Vault is deleted: undelete it/],
    ['destroyed', /^version 1 of secret\/data\/x in Vault is destroyed/],
  ] as const)('that is %s is not found, and the message reports it', async (state, message) => {
    fake.put('secret', 'x', { v: 1 });
    fake.change('secret', 'x', state);
    const store = asRoot();
    await expect(store.fetchSecret(ref('secret/data/x'), never)).rejects.toMatchObject({
      kind: 'not-found',
      message: expect.stringMatching(message) as string,
    });
    expect(await store.probeVersion(ref('secret/data/x'), never)).toBeUndefined();
  });

  it('that is missing is not found, and neither is a missing mount', async () => {
    const store = asRoot();
    const missing = expect.stringMatching(/^Vault has no secret at secret\/data\/x: create the secret/) as string;
    for (const read of [
      store.fetchSecret(ref('secret/data/x'), never),
      store.probeVersion(ref('secret/data/y'), never),
    ]) {
      await expect(read).rejects.toMatchObject({ kind: 'not-found', provider: 'vault', code: '404' });
    }
    await expect(store.fetchSecret(ref('secret/data/x'), never)).rejects.toMatchObject({ message: missing });
    await expect(store.fetchSecret(ref('nowhere/data/x'), never)).rejects.toThrow('the mount does not exist');
  });

  it('that is forbidden is denied, with the policy that would allow it', async () => {
    fake.put('secret', 'x', { v: 1 });
    fake.deny('secret/data/**');
    await expect(asRoot().fetchSecret(ref('secret/data/x'), never)).rejects.toMatchObject({
      kind: 'denied',
      message: expect.stringContaining('path "secret/data/x" { capabilities = ["read"] }') as string,
    });
  });

  it('is not probed for a while if its metadata is forbidden, while others are', async () => {
    for (const name of ['x', 'y']) fake.put('secret', name, { v: 1 });
    fake.deny('secret/metadata/x');
    const store = asRoot();
    for (let time = 0; time < 2; time++) {
      expect(await store.probeVersion(ref('secret/data/x'), never)).toBeUndefined();
      expect(await store.probeVersion(ref('secret/data/y'), never)).toMatch(/^1@/);
    }
    const [x, y] = ['x', 'y'].map((name) => `GET /v1/secret/metadata/${name}`);
    expect(fake.http.calls).toEqual([x, y, y]);
    await clock.advance(600_000);
    expect(await store.probeVersion(ref('secret/data/x'), never)).toBeUndefined();
    expect(fake.http.calls).toEqual([x, y, y, x]);
  });

  it('is read in the configured namespace', async () => {
    fake.namespace = 'teams/a';
    fake.put('secret', 'x', { v: 1 });
    const secret = await asRoot({ namespace: 'teams/a' }).fetchSecret(ref('secret/x'), never);
    expect(secret.version).toMatch(/^1@/);
    await expect(asRoot().fetchSecret(ref('secret/x'), never)).rejects.toMatchObject({ kind: 'not-found' });
  });

  it.each([
    ['region', { region: 'eu-1' }, 'the annotation; it supports versionId'],
    ['versionStage', { versionStage: 'AWSCURRENT' }, 'the annotation; it supports versionId'],
    ['role', { role: 'other' }, 'the annotation, or from the rule of the policy; it supports versionId'],
  ])('is not read with an unsupported %s', async (field, more, from) => {
    await expect(asRoot().fetchSecret(ref('secret/x', more), never)).rejects.toThrow(
      `the provider vault does not support ${field}: remove it from ${from}`,
    );
    expect(fake.http.calls).toEqual([]);
  });
});

describe('a login to Vault', () => {
  it('is shared by concurrent callers, and repeated before it expires', async () => {
    fake.put('secret', 'x', { v: 1 });
    const store = await asRole();
    await Promise.all([1, 2, 3].map(() => store.fetchSecret(ref('secret/data/x'), never)));
    expect(logins()).toBe(1);
    await clock.advance(FAKE_LEASE_MS * 0.89);
    await store.fetchSecret(ref('secret/data/x'), never);
    expect(logins()).toBe(1);
    await clock.advance(FAKE_LEASE_MS * 0.05);
    await store.fetchSecret(ref('secret/data/x'), never);
    expect(logins()).toBe(2);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is repeated when Vault has revoked the session', async () => {
    fake.put('secret', 'x', { v: 1 });
    const store = await asRole();
    await store.fetchSecret(ref('secret/data/x'), never);
    fake.revoke();
    await clock.advance(60_000);
    await Promise.all([1, 2].map(() => store.fetchSecret(ref('secret/data/x'), never)));
    expect(logins()).toBe(2);
  });

  it('is not repeated for each path that is denied to the role', async () => {
    fake.deny('secret/data/**');
    const store = await asRole();
    for (const path of ['secret/data/x', 'secret/data/y', 'secret/data/z']) {
      await expect(store.fetchSecret(ref(path), never)).rejects.toMatchObject({ kind: 'denied' });
    }
    expect(logins()).toBe(1);
  });

  it('uses the role of the request', async () => {
    fake.put('secret', 'x', { v: 1 });
    fake.deny('secret/data/x', 'other');
    const store = await asRole();
    await expect(store.fetchSecret(ref('secret/data/x'), never)).rejects.toMatchObject({ kind: 'denied' });
    await store.fetchSecret(ref('secret/data/x', { role: 'other' }), never);
    await expect(store.fetchSecret(ref('secret/data/x', { role: 'nobody' }), never)).rejects.toMatchObject({
      kind: 'denied',
      operation: 'Login',
      message: expect.stringContaining('invalid role name "nobody"') as string,
    });
  });

  it('by AppRole reads the secret id from a file, and no message contains it', async () => {
    fake.put('secret', 'x', { v: 1 });
    const secretIdFile = join(folder, 'secret-id');
    await writeFile(secretIdFile, 'hidden-secret-id');
    const store = provider({ auth: { method: 'approle', roleId: fake.appRole.roleId, secretIdFile } });
    const failure: unknown = await store.fetchSecret(ref('secret/data/x'), never).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      kind: 'denied',
      message: expect.stringContaining('invalid role or secret ID') as string,
    });
    expect(String(failure)).not.toContain('hidden-secret-id');
    await writeFile(secretIdFile, fake.appRole.secretId);
    expect(await store.fetchSecret(ref('secret/data/x'), never)).toMatchObject({ provider: 'vault' });
  });

  it('is not needed with a token, whose file is read for each call', async () => {
    fake.put('secret', 'x', { v: 1 });
    const tokenFile = join(folder, 'token');
    const store = provider({ auth: { method: 'token', tokenFile } });
    await expect(store.fetchSecret(ref('secret/data/x'), never)).rejects.toThrow(
      `the file ${tokenFile} does not contain a credential`,
    );
    await writeFile(tokenFile, 'old');
    await expect(store.fetchSecret(ref('secret/data/x'), never)).rejects.toMatchObject({ kind: 'denied' });
    await writeFile(tokenFile, fake.rootToken);
    expect(await store.probeVersion(ref('secret/data/x'), never)).toMatch(/^1@/);
    expect(logins()).toBe(0);
  });

  it.each([
    ['token', /set vault\.auth\.tokenFile, or VAULT_TOKEN/],
    ['approle', /set vault\.auth\.roleId/],
    ['kubernetes', /set vault\.auth\.role, or a role in the policy/],
  ])('by %s with a missing setting reports what to set', async (method, message) => {
    await expect(provider({ auth: { method } }).fetchSecret(ref('secret/x'), never)).rejects.toMatchObject({
      kind: 'denied',
      message: expect.stringMatching(message) as string,
    });
    expect(fake.http.calls).toEqual([]);
  });

  it('that hangs ends after 30 s, and does not block a caller that aborts earlier', async () => {
    const store = await asRole();
    fake.http.fail(/login$/, 'hang');
    const hanging = fake.http.hanging();
    const leaver = new AbortController();
    const left = store.fetchSecret(ref('secret/data/x'), leaver.signal);
    const late = store.fetchSecret(ref('secret/data/x'), never);
    const outcomes = Promise.allSettled([left, late]);
    await hanging;
    leaver.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    await clock.advance(30_000);
    await expect(late).rejects.toMatchObject({ kind: 'transient', operation: 'Login', code: 'Timeout' });
    await outcomes;
  });
});

describe('the address of Vault', () => {
  it('defaults to VAULT_ADDR', async () => {
    fake.put('secret', 'x', { v: 1 });
    const env = { VAULT_TOKEN: fake.rootToken, VAULT_ADDR: `${fake.http.url}/` };
    const store = provider({ address: undefined, auth: { method: 'token' } }, env);
    expect(await store.probeVersion(ref('secret/x'), never)).toMatch(/^1@/);
  });

  it.each([
    [{}, 'set vault.address, or VAULT_ADDR'],
    [{ VAULT_ADDR: 'vault.example.com' }, 'must be an https:// URL'],
    [{ VAULT_ADDR: 'https://me:hunter2@vault.example.com' }, 'without user'],
    [{ VAULT_ADDR: 'http://vault.example.com' }, 'without TLS'],
  ])('%j is rejected before any token is sent', async (env, message) => {
    const store = provider({ address: undefined, auth: { method: 'token' } }, { ...env, VAULT_TOKEN: 'hidden' });
    const failure: unknown = await store.fetchSecret(ref('secret/x'), never).catch((error: unknown) => error);
    expect(failure).toMatchObject({ kind: 'refused', message: expect.stringContaining(message) as string });
    expect(String(failure)).not.toMatch(/hunter2|hidden/);
  });
});
