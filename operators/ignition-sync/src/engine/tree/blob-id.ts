import { createHash, type Hash } from 'node:crypto';

/** blobHash returns a hash that yields the id of a git blob once its `size` bytes were added. */
export function blobHash(size: number, algorithm: 'sha1' | 'sha256' = 'sha1'): Hash {
  return createHash(algorithm).update(`blob ${size}\0`);
}

/** hashAlgorithm returns the algorithm of a blob id: repositories use SHA-1 or SHA-256. */
export function hashAlgorithm(blob: string): 'sha1' | 'sha256' {
  return blob.length === 64 ? 'sha256' : 'sha1';
}

/** blobId returns the id of a git blob. */
export function blobId(content: string | Uint8Array, algorithm: 'sha1' | 'sha256' = 'sha1'): string {
  return blobHash(Buffer.byteLength(content), algorithm).update(content).digest('hex');
}
