import { systemClock } from '@bowline/machinery';
import { configOf } from '../../testing/config-of.test-support.ts';
import { FakeVault } from '../../testing/fake-vault.test-support.ts';
import { providerContract } from '../contract.test-support.ts';
import { config } from './config.ts';
import { vault } from './kind.ts';
import { VaultProvider } from './vault-provider.ts';

const nameIn = (path: string): string => path.replace('secret/data/', '');

providerContract('Vault', {
  invalidPaths: ['', 'secret', 'secret/data', '/secret/x', 'secret/../x', 'secret/x?version=1', 'secret/%2e%2e/x'],
  names: (path) => vault.names(path, configOf(config)),
  setup: async () => {
    const fake = await FakeVault.start();
    const stop = new AbortController();
    const observed: string[] = [];
    const { roleId, secretId } = fake.appRole;
    const provider = new VaultProvider({
      config: configOf(config, { address: fake.http.url, auth: { method: 'approle', roleId } }),
      env: { VAULT_SECRET_ID: secretId },
      clock: systemClock,
      observe: ({ operation, code }) => observed.push(`${operation} ${code}`),
      signal: stop.signal,
    });
    return {
      provider,
      observed,
      credentials: [secretId, 'hvs.'],
      ref: (word) => ({ path: `secret/data/team/${word}`, namespace: 'team-a' }),
      put: ({ path }, fields) => fake.put('secret', nameIn(path), fields),
      putEmpty: ({ path }) => fake.put('secret', nameIn(path), {}),
      remove: ({ path }) => fake.remove('secret', nameIn(path)),
      deny: ({ path }) => fake.deny(path),
      failOnce: (how) => fake.http.fail(/./, how === 'status' ? { status: 503 } : 'reset'),
      hangOnce: () => {
        fake.http.fail(/./, 'hang');
        return fake.http.hanging();
      },
      [Symbol.asyncDispose]: async () => {
        stop.abort();
        await fake[Symbol.asyncDispose]();
      },
    };
  },
});
