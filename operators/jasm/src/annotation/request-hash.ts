import { hash } from 'node:crypto';
import type { SecretSyncRequest } from './secret-sync-request.ts';

/**
 * DEFAULTS are left out of the hash, so that a field added in a later release does not change the hash of a request
 * without it.
 */
const DEFAULTS: Readonly<Record<string, unknown>> = {
  missingKeyPolicy: 'Fail',
  type: 'Opaque',
  format: 'json',
  decode: 'None',
  immutable: false,
};

/**
 * requestHash returns the hex SHA-256 of everything that determines the content of the Secret, in a canonical form. It
 * is stored on Secrets in clusters: another hash for the same request would cause every one of them to be read again.
 */
export function requestHash(request: Omit<SecretSyncRequest, 'hash'>): string {
  const {
    provider,
    path,
    versionStage,
    versionId,
    region,
    role,
    missingKeyPolicy,
    type,
    format,
    key,
    decode,
    immutable,
  } = request;
  const relevant: Readonly<Record<string, unknown>> = {
    provider,
    path,
    versionStage,
    versionId,
    region,
    role,
    keys: request.keys?.map(({ target, source }) => [target, source] as const).sort(byName),
    optionalKeys: request.optionalKeys.length === 0 ? undefined : [...request.optionalKeys].sort(),
    missingKeyPolicy,
    type,
    format,
    key,
    decode,
    template: request.template && Object.entries(request.template).sort(byName),
    immutable,
  };
  const nonDefaults = Object.entries(relevant).filter(
    ([field, value]) => value !== undefined && value !== DEFAULTS[field],
  );
  return hash('sha256', JSON.stringify(nonDefaults.sort(byName)), 'hex');
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
