import { invalidPath, pathSegments } from '../path-segments.ts';
import type { AzureConfig } from './config.ts';

/** AZURE_PATH describes the format of a path. */
export const AZURE_PATH = 'vault/secret with the name of a configured vault, or secret in the default vault';

/** Vaults holds the configured vaults. */
export type Vaults = Pick<AzureConfig, 'vaults' | 'defaultVault'>;

/** AzureSecret is the location of a secret in Key Vault. */
export interface AzureSecret {
  /** The configured name. */
  readonly vault: string;
  readonly url: URL;
  readonly name: string;
}

/** azureSecret parses a path. Key Vault is case-insensitive, so its names are converted to lower case. */
export function azureSecret(path: string, { vaults, defaultVault }: Vaults): AzureSecret {
  const segments = pathSegments(path, AZURE_PATH);
  const written = segments.at(-1) ?? '';
  if (segments.length > 2 || !/^[0-9A-Za-z-]{1,127}$/.test(written)) {
    throw invalidPath(
      path,
      'is not a valid name of a secret, which has up to 127 letters, digits and dashes',
      AZURE_PATH,
    );
  }
  const named = segments.length === 2 ? segments[0]?.toLowerCase() : defaultVault;
  if (named === undefined) throw invalidPath(path, 'names no vault, and no default vault is configured', AZURE_PATH);
  const origin = originOf(vaults, named);
  if (origin === undefined) {
    throw invalidPath(
      path,
      `names a vault that is not configured (configured: ${listOf(Object.keys(vaults))})`,
      AZURE_PATH,
    );
  }
  // A vault that is configured under two names is the same vault.
  const vault =
    Object.keys(vaults)
      .sort()
      .find((each) => originOf(vaults, each) === origin) ?? named;
  return { vault, url: new URL(origin), name: written.toLowerCase() };
}

/**
 * azureNames returns the names of a path's secret for policies: in lower case first, then as written in the path, then
 * without the default vault.
 */
export function azureNames(path: string, vaults: Vaults): readonly [string, ...string[]] {
  const { vault, url, name } = azureSecret(path, vaults);
  const written = path.split('/').at(-1) ?? name;
  const { defaultVault } = vaults;
  const isDefault = defaultVault !== undefined && originOf(vaults.vaults, defaultVault) === url.origin;
  const first = `${vault}/${name}`;
  const others = [`${vault}/${written}`, ...(isDefault ? [name, written] : [])];
  return [first, ...new Set(others.filter((other) => other !== first))];
}

function originOf(vaults: Vaults['vaults'], name: string): string | undefined {
  const url = Object.hasOwn(vaults, name) ? vaults[name] : undefined;
  return url === undefined ? undefined : new URL(url).origin;
}

function listOf(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ');
}
