import { createHash } from 'node:crypto';
import type { SecretData } from './token-service.ts';

/**
 * checksumOf returns the checksum of the content of a secret. Keys are sorted by their bytes; every key and value is
 * preceded by its length, so that no two contents have the same input. Checksums are stored in statuses and compared
 * between devices: the same content must have the same checksum in every release.
 */
export function checksumOf(data: SecretData): string {
  const hash = createHash('sha256');
  const entries = Object.entries(data).map(([key, value]) => [Buffer.from(key), value] as const);
  for (const part of entries.sort(([a], [b]) => Buffer.compare(a, b)).flat()) {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(part.length);
    hash.update(length).update(part);
  }
  return `sha256:${hash.digest('hex')}`;
}
