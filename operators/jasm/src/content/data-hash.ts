import { hash } from 'node:crypto';

/**
 * dataHash is the hex SHA-256 over the `data` of a Secret, whatever the order of its keys; no data and empty data are the same.
 * It stands on Secrets in clusters: the same data must have the same hash in every release.
 */
export function dataHash(data: Readonly<Record<string, string>> | undefined): string {
  const entries = Object.entries(data ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  // Neither a key nor Base64 holds a zero: no two data look alike.
  return hash('sha256', entries.map(([key, value]) => `${key}\0${value}\0`).join(''), 'hex');
}
