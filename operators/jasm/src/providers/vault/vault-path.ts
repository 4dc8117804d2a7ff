import { invalidPath, pathSegments } from '../path-segments.ts';
import type { VaultConfig } from './config.ts';

/** VAULT_PATH describes the format of a path. */
export const VAULT_PATH = 'mount/data/name as in the API of KV version 2, or mount/name; and mount/name for version 1';

/** VaultSecret is the location of a secret in Vault. */
export interface VaultSecret {
  readonly version: 1 | 2;
  readonly mount: string;
  readonly name: string;
}

/** Mounts holds the configured mounts. */
export type Mounts = Pick<VaultConfig, 'kv1Mounts' | 'kv2Mounts'>;

/**
 * vaultSecret parses a path. The mount is a configured one, else the first segment. In a mount of version 2, `data/`
 * before a name is as in the API; the secret `data/x` itself can therefore only be named `mount/data/data/x`.
 */
export function vaultSecret(path: string, { kv1Mounts, kv2Mounts }: Mounts): VaultSecret {
  const segments = pathSegments(path, VAULT_PATH);
  const named = [...kv1Mounts, ...kv2Mounts].filter((each) => path === each || path.startsWith(`${each}/`));
  const mount = named.reduce((longest, each) => (each.length > longest.length ? each : longest), segments[0] ?? '');
  const version = kv1Mounts.includes(mount) ? 1 : 2;
  const rest = segments.slice(mount.split('/').length);
  const isApiPath = version === 2 && rest[0] === 'data';
  const name = (isApiPath ? rest.slice(1) : rest).join('/');
  if (name === '') throw invalidPath(path, `names the mount ${mount}, but no secret in it`, VAULT_PATH);
  return { version, mount, name };
}

/** apiPath returns the path of a secret in the API, below /v1. */
export function apiPath({ version, mount, name }: VaultSecret): string {
  return version === 1 ? `${mount}/${name}` : `${mount}/data/${name}`;
}

/**
 * vaultNames returns the names of a path's secret for policies: that of the API first, then the one without `data`,
 * unless that would be the first name of another secret.
 */
export function vaultNames(path: string, mounts: Mounts): readonly [string, ...string[]] {
  const secret = vaultSecret(path, mounts);
  const first = apiPath(secret);
  const short = `${secret.mount}/${secret.name}`;
  return short === first || /^data(?:\/|$)/.test(secret.name) ? [first] : [first, short];
}
