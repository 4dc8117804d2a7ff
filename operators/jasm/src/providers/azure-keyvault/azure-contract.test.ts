import { systemClock } from '@bowline/machinery';
import { configOf } from '../../testing/config-of.test-support.ts';
import { FakeAzure } from '../../testing/fake-azure.test-support.ts';
import { providerContract } from '../contract.test-support.ts';
import { AzureProvider } from './azure-provider.ts';
import { config } from './config.ts';
import { azureKeyVault } from './kind.ts';

const nameIn = (path: string): string => path.replace('prod/', '');

providerContract('Key Vault', {
  invalidPaths: ['', 'prod/', 'prod/a/b', 'other/x', 'prod/..', 'prod/a_b', 'prod/x?a', 'prod/%2e'],
  names: (path) => azureKeyVault.names(path, configOf(config, { vaults: { prod: 'https://prod.vault.azure.net' } })),
  setup: async () => {
    const fake = await FakeAzure.start();
    const stop = new AbortController();
    const observed: string[] = [];
    const { tenantId, clientId, clientSecret } = fake;
    const provider = new AzureProvider({
      config: configOf(config, {
        vaults: { prod: fake.http.url },
        auth: { method: 'client-secret', tenantId, clientId, authorityHost: fake.http.url },
      }),
      env: { AZURE_CLIENT_SECRET: clientSecret },
      clock: systemClock,
      observe: ({ operation, code }) => observed.push(`${operation} ${code}`),
      signal: stop.signal,
    });
    return {
      provider,
      observed,
      credentials: [clientSecret, 'fake-token'],
      ref: (word) => ({ path: `prod/${word}`, namespace: 'team-a' }),
      put: ({ path }, fields) => fake.put(nameIn(path), JSON.stringify(fields)),
      putEmpty: ({ path }) => fake.put(nameIn(path), '{}'),
      remove: ({ path }) => fake.remove(nameIn(path)),
      deny: ({ path }) => fake.deny(nameIn(path)),
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
