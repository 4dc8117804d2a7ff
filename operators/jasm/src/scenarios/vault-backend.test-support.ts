import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sharedControlPlane } from '@bowline/control-plane/testing';
import type { Fault } from '../../../../test/support/fault-proxy/fault.ts';
import { FaultProxy } from '../../../../test/support/fault-proxy/fault-proxy.ts';
import { ensureVault } from '../../../../test/support/vault/ensure-vault.ts';
import { startVault } from '../../../../test/support/vault/start-vault.ts';
import { FakeVault } from '../testing/fake-vault.test-support.ts';

/**
 * VaultBackend is a Vault from an administrator's view, with a proxy in front. Its KV of version 2 is mounted at
 * `secret`.
 */
export interface VaultBackend extends AsyncDisposable {
  readonly kind: 'fake' | 'vault';
  /**
   * The section `vault` of the configuration with which the operator reads from it: as root, with the token in a file.
   */
  readonly section: Readonly<Record<string, unknown>>;
  /** put writes a version of a secret below `secret`. */
  put(name: string, value: object): Promise<void>;
  /** remove deletes a secret and all its versions. */
  remove(name: string): Promise<void>;
  /**
   * callsFor returns the reads of a secret below `secret` so far, including failed ones, but not those of its metadata.
   */
  callsFor(name: string): readonly string[];
  /** fail makes the next reads of that secret fail, one fault each. */
  fail(name: string, ...faults: readonly Fault[]): void;
}

/** openVault returns a real Vault for tests on the real control plane, if one is available, and our fake otherwise. */
export async function openVault(): Promise<VaultBackend> {
  const { kind } = await sharedControlPlane();
  const found = kind === 'kubernetes' ? await ensureVault() : undefined;
  if (found && 'skippedBecause' in found) {
    process.stderr.write(
      `SKIPPED: JASM's scenarios with Vault, which run with our own fake instead. ${found.skippedBecause}\n`,
    );
  }
  const folder = await mkdtemp(join(tmpdir(), 'vault-scenario-'));
  const vault = found && 'program' in found ? await realVault(found.program) : await fakeVault();
  const calls: string[] = [];
  const failures: { readonly path: string; readonly fault: Fault }[] = [];
  const pathOf = (name: string): string => `/v1/secret/data/${name}`;
  const proxy = await FaultProxy.start({
    upstream: vault.upstream,
    schedule: ({ path }) => {
      calls.push(path);
      const index = failures.findIndex((failure) => failure.path === path);
      return index < 0 ? undefined : failures.splice(index, 1)[0]?.fault;
    },
  });
  const { server, ca } = await proxy.connection('jasm');
  const [tokenFile, caFile] = [join(folder, 'token'), join(folder, 'ca.pem')];
  await writeFile(tokenFile, vault.token);
  await writeFile(caFile, String(ca));
  return {
    kind: vault.kind,
    section: { address: server, caFile, auth: { method: 'token', tokenFile } },
    put: vault.put,
    remove: vault.remove,
    callsFor: (name) => calls.filter((path) => path === pathOf(name)),
    fail: (name, ...faults) => {
      failures.push(...faults.map((fault) => ({ path: pathOf(name), fault })));
    },
    [Symbol.asyncDispose]: async () => {
      await proxy.close();
      await vault.stop();
      await rm(folder, { recursive: true });
    },
  };
}

interface StartedVault extends Pick<VaultBackend, 'kind' | 'put' | 'remove'> {
  readonly upstream: Parameters<typeof FaultProxy.start>[0]['upstream'];
  readonly token: string;
  readonly stop: () => Promise<void>;
}

async function realVault(program: string): Promise<StartedVault> {
  const vault = await startVault(program);
  return {
    kind: 'vault',
    upstream: { server: vault.url, ca: vault.ca, source: 'Vault' },
    token: vault.rootToken,
    put: async (name, data) => {
      await vault.administer('POST', `secret/data/${name}`, { data });
    },
    remove: async (name) => {
      await vault.administer('DELETE', `secret/metadata/${name}`);
    },
    stop: async () => await vault[Symbol.asyncDispose](),
  };
}

async function fakeVault(): Promise<StartedVault> {
  const vault = await FakeVault.start();
  return {
    kind: 'fake',
    upstream: { server: vault.http.url, source: 'our own Vault' },
    token: vault.rootToken,
    put: (name, data) => Promise.resolve(vault.put('secret', name, data)),
    remove: (name) => Promise.resolve(vault.remove('secret', name)),
    stop: async () => await vault[Symbol.asyncDispose](),
  };
}
