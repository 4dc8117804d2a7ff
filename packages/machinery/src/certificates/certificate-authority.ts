import { createPrivateKey, type KeyObject, randomBytes, webcrypto, X509Certificate } from 'node:crypto';
import { BowlineError } from '../errors/bowline-error.ts';
import { generateKeys, privateKeyPem } from './key-pair.ts';
import { distinguishedName } from './subject.ts';
import { type ValidityOptions, validity } from './validity.ts';
import { loadX509 } from './x509-library.ts';

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
 * createCertificateAuthority makes a self-signed root (ECDSA P-256) that may sign end certificates and nothing below them.
 *
 * @example
 * const authority = await createCertificateAuthority({ commonName: 'bowline-webhooks' });
 */
export async function createCertificateAuthority(options: CertificateAuthorityOptions): Promise<CertificateWithKey> {
  const dates = validity(options, TEN_YEARS_MS);
  const name = distinguishedName(options.commonName, options.organization ? [options.organization] : []);
  const keys = await generateKeys('ecdsa-p256');
  const x509 = await loadX509();
  const publicKey = new x509.PublicKey(keys.publicKey.export({ type: 'spki', format: 'der' }));
  const keyId = await x509.SubjectKeyIdentifierExtension.create(publicKey, false, webcrypto);
  const certificate = await x509.X509CertificateGenerator.create(
    {
      serialNumber: serialNumber(),
      subject: name,
      issuer: name,
      ...dates,
      publicKey,
      signingKey: await signingKey(keys.privateKey),
      extensions: [
        new x509.BasicConstraintsExtension(true, 0, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
        keyId,
        new x509.AuthorityKeyIdentifierExtension(keyId.keyId),
      ],
    },
    webcrypto,
  );
  return { certificatePem: pem(certificate), keyPem: privateKeyPem(keys.privateKey) };
}

/** pem writes a certificate with the final line break that files end with. */
export function pem(certificate: { toString(format: 'pem'): string }): string {
  return `${certificate.toString('pem')}\n`;
}

/** OpenAuthority is an authority whose certificate and key have been read and found to belong together. */
export interface OpenAuthority {
  readonly certificate: X509Certificate;
  readonly key: KeyObject;
}

/** openAuthority reads an authority's PEM and refuses what could only produce certificates that nobody accepts. */
export function openAuthority(authority: CertificateWithKey, now: number): OpenAuthority {
  const certificate = read('certificate', () => new X509Certificate(authority.certificatePem));
  const key = read('private key', () => createPrivateKey(authority.keyPem));
  const name = certificate.subject.replaceAll('\n', ', ');
  if (!certificate.ca) throw unusable(`"${name}" is not a certificate authority`);
  if (!certificate.checkPrivateKey(key)) throw unusable(`its private key does not belong to "${name}"`);
  if (Date.parse(certificate.validTo) <= now) throw unusable(`"${name}" expired at ${certificate.validTo}`);
  return { certificate, key };
}

// The parser's own message stays out of ours: it may quote the input, and the input is a key.
function read<T>(what: string, parse: () => T): T {
  try {
    return parse();
  } catch {
    throw unusable(`its ${what} is not readable PEM`);
  }
}

function unusable(problem: string): BowlineError {
  return new BowlineError(
    'BOWLINE_CERTIFICATE_AUTHORITY_INVALID',
    `cannot issue from the certificate authority: ${problem}; give the matching certificate and key of a valid one`,
  );
}

/** serialNumber is 127 random bits with the sign bit clear and no leading zero byte: positive, unique, and 16 bytes long. */
export function serialNumber(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes.toString('hex');
}

const CURVES: Readonly<Record<string, string>> = { prime256v1: 'P-256', secp384r1: 'P-384', secp521r1: 'P-521' };

/** signingKey is a private key in the form that the X.509 library signs with. */
export function signingKey(key: KeyObject): Promise<webcrypto.CryptoKey> {
  const der = key.export({ type: 'pkcs8', format: 'der' });
  const curve = CURVES[key.asymmetricKeyDetails?.namedCurve ?? ''];
  if (key.asymmetricKeyType === 'ec' && curve)
    return webcrypto.subtle.importKey('pkcs8', der, { name: 'ECDSA', namedCurve: curve }, false, ['sign']);
  if (key.asymmetricKeyType === 'rsa')
    return webcrypto.subtle.importKey('pkcs8', der, { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }, false, ['sign']);
  throw unusable(`its key is of type ${key.asymmetricKeyType ?? 'unknown'}, which is neither a NIST curve nor RSA`);
}
