import type { ProviderKind } from '../provider.ts';
import { AZURE_PATH, azureNames } from './azure-path.ts';
import type { AzureConfig } from './config.ts';

/** azureKeyVault reads secrets of Azure Key Vault. */
export const azureKeyVault: ProviderKind<AzureConfig> = {
  name: 'azure-keyvault',
  pathFormat: AZURE_PATH,
  names: azureNames,
  canProbeVersion: false,
  async load(context) {
    const { AzureProvider } = await import('./azure-provider.ts');
    return new AzureProvider(context);
  },
};
