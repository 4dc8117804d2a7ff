import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sharedControlPlane } from '@bowline/control-plane/testing';
import { ensureVault } from '../../../../test/support/vault/ensure-vault.ts';
import { startVault } from '../../../../test/support/vault/start-vault.ts';
import { FakeVault } from '../testing/fake-vault.test-support.ts';

/** VaultBackend is a Vault as whoever administers it sees it. Its KV of version 2 is at `secret`. */
export interface VaultBackend extends AsyncDisposable {
  readonly kind: 'fake' | 'vault';
  /** The section `vault` of the configuration with which the operator reads from it: as root, whose token is in a file. */
  readonly section: Readonly<Record<string, unknown>>;
  /** put writes a version of a secret below `secret`. */
  put(name: string, value: object): Promise<void>;
  /** remove forgets a secret and all its versions. */
  remove(name: string): Promise<void>;
}

/** openVault is a real Vault for tests on the real control plane, if there is one, and our fake for others. */
export async function openVault(): Promise<VaultBackend> {
  const { kind } = await sharedControlPlane();
  const found = kind === 'kubernetes' ? await ensureVault() : undefined;
  const folder = await mkdtemp(join(tmpdir(), 'vault-scenario-'));
  const vault = found && 'program' in found ? await realVault(found.program, folder) : await fakeVault();
  const tokenFile = join(folder, 'token');
  await writeFile(tokenFile, vault.token);
  return {
    kind: vault.kind,
    section: { ...vault.section, auth: { method: 'token', tokenFile } },
    put: vault.put,
    remove: vault.remove,
    [Symbol.asyncDispose]: async () => {
      await vault.stop();
      await rm(folder, { recursive: true });
    },
  };
}

interface StartedVault extends Pick<VaultBackend, 'kind' | 'section' | 'put' | 'remove'> {
  readonly token: string;
  readonly stop: () => Promise<void>;
}

async function realVault(program: string, folder: string): Promise<StartedVault> {
  const vault = await startVault(program);
  const caFile = join(folder, 'ca.pem');
  await writeFile(caFile, vault.ca);
  return {
    kind: 'vault',
    section: { address: vault.url, caFile },
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
    section: { address: vault.http.url },
    token: vault.rootToken,
    put: (name, data) => Promise.resolve(vault.put('secret', name, data)),
    remove: (name) => Promise.resolve(vault.remove('secret', name)),
    stop: async () => await vault[Symbol.asyncDispose](),
  };
}
