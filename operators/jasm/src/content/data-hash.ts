import { hash } from 'node:crypto';

/**
 * dataHash returns the hex SHA-256 of the `data` of a Secret. The order of the keys does not matter, and missing data
 * hashes like empty data. The hash is stored on Secrets in clusters, so the same data must have the same hash in every
 * release.
 */
export function dataHash(data: Readonly<Record<string, string>> | undefined): string {
  const entries = Object.entries(data ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  // Neither a key nor Base64 contains a NUL character, so different data never produces the same input.
  return hash('sha256', entries.map(([key, value]) => `${key}\0${value}\0`).join(''), 'hex');
}
