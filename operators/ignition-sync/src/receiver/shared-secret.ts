import { createHash, createSecretKey, type KeyObject } from 'node:crypto';

/** SharedSecret is a secret in the form in which requests are compared with it. Its value cannot be read from it. */
export interface SharedSecret {
  readonly hmacKey: KeyObject;
  /** The SHA-256 of the value: tokens of any length are compared in the same time. */
  readonly digest: Buffer;
}

/** The block size of SHA-256: a longer key costs one more digest for each HMAC. */
const BLOCK_BYTES = 64;

/**
 * sharedSecret prepares a secret for comparisons, which then take the same time for every secret. Line breaks at its
 * end are dropped: they come from files. Undefined: the secret is empty, so it would protect nothing.
 */
export function sharedSecret(value: Uint8Array | string): SharedSecret | undefined {
  let bytes = Buffer.from(value);
  while (bytes.at(-1) === 0x0a || bytes.at(-1) === 0x0d) bytes = bytes.subarray(0, -1);
  if (bytes.length === 0) return undefined;
  const digest = sha256(bytes);
  // HMAC itself replaces a long key by its digest.
  return { hmacKey: createSecretKey(bytes.length > BLOCK_BYTES ? digest : bytes), digest };
}

/** sha256 returns the digest of some bytes. */
export function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}
