import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { authorityExtensions, keyExtensions } from './extensions.ts';
import { generateKeys, privateKeyPem } from './key-pair.ts';
import { keyIdentifier, signCertificate, unusable } from './sign-certificate.ts';
import { distinguishedName } from './subject.ts';
import { type ValidityOptions, validity } from './validity.ts';

const TEN_YEARS_MS = 3650 * 24 * 3_600_000;

/** CertificateWithKey is a certificate and its private key (PKCS #8), both PEM. */
export interface CertificateWithKey {
  readonly certificatePem: string;
  readonly keyPem: string;
}

/** CertificateAuthorityOptions describes a new root. */
export interface CertificateAuthorityOptions extends ValidityOptions {
  /** The subject's common name. */
  commonName: string;
  /** The subject's organization. Defaults to none. */
  organization?: string;
  /** How long the root is valid, in milliseconds. Defaults to ten years. */
  validForMs?: number;
}

/**
 * createCertificateAuthority creates a self-signed root (ECDSA P-256) that may sign end certificates but no
 * intermediate authorities.
 *
 * @example
 * const authority = await createCertificateAuthority({ commonName: 'bowline-webhooks' });
 */
export async function createCertificateAuthority(options: CertificateAuthorityOptions): Promise<CertificateWithKey> {
  const dates = validity(options, TEN_YEARS_MS);
  const name = distinguishedName(options.commonName, options.organization ? [options.organization] : []);
  const keys = await generateKeys('ecdsa-p256');
  const keyId = keyIdentifier(keys.publicKey);
  const certificatePem = signCertificate(
    {
      issuer: name,
      subject: name,
      ...dates,
      publicKey: keys.publicKey,
      extensions: [...authorityExtensions(), ...keyExtensions(keyId, keyId)],
    },
    keys.privateKey,
  );
  return { certificatePem, keyPem: privateKeyPem(keys.privateKey) };
}

/** LoadedAuthority is an authority whose certificate and key have been read and match. */
export interface LoadedAuthority {
  readonly certificate: X509Certificate;
  readonly key: KeyObject;
}

/** loadAuthority reads an authority's PEM. It rejects an authority whose certificates no client would accept. */
export function loadAuthority(authority: CertificateWithKey, now: number): LoadedAuthority {
  const certificate = read('certificate', () => new X509Certificate(authority.certificatePem));
  const key = read('private key', () => createPrivateKey(authority.keyPem));
  const name = certificate.subject.replaceAll('\n', ', ');
  if (!certificate.ca) throw unusable(`"${name}" is not a certificate authority`);
  if (!certificate.checkPrivateKey(key)) throw unusable(`its private key does not match the certificate "${name}"`);
  if (Date.parse(certificate.validTo) <= now) throw unusable(`"${name}" expired at ${certificate.validTo}`);
  return { certificate, key };
}

// The parser's own message is left out of ours: it may quote the input, and the input is a key.
function read<T>(what: string, parse: () => T): T {
  try {
    return parse();
  } catch {
    throw unusable(`its ${what} is not valid PEM`);
  }
}
