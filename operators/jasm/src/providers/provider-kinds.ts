import type { Read } from '@bowline/runtime/resource';
import { config as aws } from './aws-secretsmanager/config.ts';
import { awsSecretsManager } from './aws-secretsmanager/kind.ts';
import { config as azure } from './azure-keyvault/config.ts';
import { azureKeyVault } from './azure-keyvault/kind.ts';
import { kubernetes } from './kubernetes/kind.ts';
import { config as mockSection } from './mock/config.ts';
import { mock } from './mock/kind.ts';
import type { ProviderContext, ProviderKind, SecretProvider, SecretRef } from './provider.ts';
import { config as vaultSection } from './vault/config.ts';
import { vault } from './vault/kind.ts';

/** PROVIDER_CONFIG is the providers' part of the operator's configuration, with one section each. */
export const PROVIDER_CONFIG = { aws, vault: vaultSection, azure, mock: mockSection } as const;

/** ProviderConfig holds the parsed sections. */
export type ProviderConfig = {
  readonly [Section in keyof typeof PROVIDER_CONFIG]: Read<(typeof PROVIDER_CONFIG)[Section]>;
};

/** ConfiguredKind is a kind of provider with its configuration. */
export interface ConfiguredKind {
  readonly name: string;
  readonly pathFormat: string;
  /** See ProviderKind. */
  readonly canProbeVersion: boolean;
  /** See ProviderKind. */
  names(path: string): readonly [string, ...string[]];
  /** See ProviderKind. */
  dependsOnNamespace(ref: SecretRef): boolean;
  /** See ProviderKind. */
  load(context: Omit<ProviderContext<unknown>, 'config'>): Promise<SecretProvider>;
}

/**
 * providerKinds returns the providers that pods may name, by name. Only small modules are imported here: the path
 * formats, and how to load the rest. A new provider is a folder, a section above and a line here.
 */
export function providerKinds(config: ProviderConfig): ReadonlyMap<string, ConfiguredKind> {
  const kinds: readonly ConfiguredKind[] = [
    configureProvider(awsSecretsManager, config.aws),
    configureProvider(vault, config.vault),
    configureProvider(azureKeyVault, config.azure),
    configureProvider(kubernetes, undefined),
    ...(config.mock.enabled ? [configureProvider(mock, undefined)] : []),
  ];
  return new Map(kinds.map((kind) => [kind.name, kind]));
}

/** configureProvider binds a kind to its configuration. */
export function configureProvider<Config>(kind: ProviderKind<Config>, config: Config): ConfiguredKind {
  return {
    name: kind.name,
    pathFormat: kind.pathFormat,
    canProbeVersion: kind.canProbeVersion ?? true,
    names: (path) => kind.names(path, config),
    dependsOnNamespace: (ref) => kind.dependsOnNamespace?.(ref, config) ?? false,
    load: (context) => kind.load({ ...context, config }),
  };
}
