import { generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';

const generate = promisify(generateKeyPair);

/**
 * KeyAlgorithm names the key types that this package creates: those that TLS and ServiceAccount token signing use in
 * practice.
 */
export type KeyAlgorithm = 'ecdsa-p256' | 'rsa-2048';

/** KeyPairOptions configures `createKeyPair`. */
export interface KeyPairOptions {
  /** The kind of key. Defaults to `ecdsa-p256`. */
  algorithm?: KeyAlgorithm;
}

/** KeyPair is a new key in PEM: the public part as SubjectPublicKeyInfo, the private part as PKCS #8. */
export interface KeyPair {
  readonly publicKeyPem: string;
  readonly privateKeyPem: string;
}

/** createKeyPair creates a key pair, for example to sign ServiceAccount tokens. */
export async function createKeyPair(options: KeyPairOptions = {}): Promise<KeyPair> {
  const { publicKey, privateKey } = await generateKeys(options.algorithm ?? 'ecdsa-p256');
  return {
    publicKeyPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    privateKeyPem: privateKeyPem(privateKey),
  };
}

/** generateKeys creates a key pair as key objects. */
export function generateKeys(algorithm: KeyAlgorithm): Promise<{ publicKey: KeyObject; privateKey: KeyObject }> {
  return algorithm === 'rsa-2048'
    ? generate('rsa', { modulusLength: 2048 })
    : generate('ec', { namedCurve: 'prime256v1' });
}

/** privateKeyPem encodes a private key as PKCS #8, which OpenSSL, Go and Node all read. */
export function privateKeyPem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}
