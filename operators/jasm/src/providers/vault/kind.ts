import type { ProviderKind } from '../provider.ts';
import type { VaultConfig } from './config.ts';
import { VAULT_PATH, vaultNames } from './vault-path.ts';

/** vault reads secrets of the KV engines of Vault and OpenBao. */
export const vault: ProviderKind<VaultConfig> = {
  name: 'vault',
  pathFormat: VAULT_PATH,
  names: vaultNames,
  async load(context) {
    const { VaultProvider } = await import('./vault-provider.ts');
    return new VaultProvider(context);
  },
};
