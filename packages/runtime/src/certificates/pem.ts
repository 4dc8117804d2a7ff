import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import { memoizeByText } from '@bowline/machinery';
import { BowlineError } from '../errors/bowline-error.ts';
import { CERTIFICATE_TERMS, type CertificateTerms } from './certificate-profile.ts';
import type { TlsMaterial } from './certificate-source.ts';

/** Authority is a current or previous CA; with a key it can issue certificates. */
export interface Authority {
  readonly certificatePem: string;
  /** Undefined for a previous CA, which issues no more certificates. */
  readonly keyPem: string | undefined;
  readonly fingerprint: string;
  readonly notAfter: number;
  readonly certificate: X509Certificate;
}

/** Leaf is a certificate of a server or client with its key and parsed properties. */
export interface Leaf extends TlsMaterial {
  readonly certificate: X509Certificate;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;
/** Far more than a rotation ever needs; the rest is ignored. */
const MAX_AUTHORITIES = 16;
/** Every plan reads the same few texts, of at most 2,000 characters each, and parsing is most of its cost. */
const MAX_REMEMBERED_CHARACTERS = 16_384;

const parseCertificate = memoizeByText((pem) => new X509Certificate(pem), MAX_REMEMBERED_CHARACTERS);
const parseKey = memoizeByText((pem) => createPrivateKey(pem), MAX_REMEMBERED_CHARACTERS);

/**
 * readAuthorities returns the distinct CAs in a bundle; certificates that cannot be parsed or are not CAs are omitted.
 */
export function readAuthorities(bundle: string): Authority[] {
  const found = new Map<string, Authority>();
  for (const [pem] of bundle.matchAll(CERTIFICATE)) {
    if (found.size >= MAX_AUTHORITIES) break;
    const authority = readAuthority(pem, undefined);
    if (authority && !found.has(authority.fingerprint)) found.set(authority.fingerprint, authority);
  }
  return [...found.values()];
}

/** readAuthority parses one CA certificate; undefined if it is not one. */
export function readAuthority(certificatePem: string, keyPem: string | undefined): Authority | undefined {
  try {
    const certificate = parseCertificate(certificatePem);
    if (!certificate.ca) return undefined;
    return {
      certificatePem: `${certificatePem.trim()}\n`,
      keyPem,
      certificate,
      fingerprint: certificate.fingerprint256,
      notAfter: Date.parse(certificate.validTo),
    };
  } catch {
    return undefined;
  }
}

/**
 * readKey parses a private key; undefined if it is not one. The parser's error is dropped because it may quote the key.
 */
export function readKey(pem: string | undefined): KeyObject | undefined {
  if (!pem) return undefined;
  try {
    return parseKey(pem);
  } catch {
    return undefined;
  }
}

/** The certificates that TLS accepted, each with its key. Equal texts have the same objects. */
const accepted = new WeakMap<X509Certificate, KeyObject>();

/** readLeaf parses a certificate chain with its key. It throws an error that contains no part of either. */
export function readLeaf(
  where: string,
  certificatePem: string | undefined,
  keyPem: string | undefined,
  { noun, codes }: CertificateTerms = CERTIFICATE_TERMS,
): Leaf {
  const unusable = (problem: string): BowlineError =>
    new BowlineError(
      codes.unusable,
      `cannot use the ${noun} in ${where}: ${problem}; provide a PEM certificate and its key as tls.crt and tls.key`,
    );
  if (!certificatePem) throw unusable('tls.crt is missing');
  if (!keyPem) throw unusable('tls.key is missing');
  let certificate: X509Certificate;
  try {
    certificate = parseCertificate(certificatePem);
  } catch {
    throw unusable('tls.crt is not a PEM certificate');
  }
  const key = readKey(keyPem);
  if (!key) throw unusable('tls.key is not a PEM private key without a passphrase');
  if (!certificate.checkPrivateKey(key)) throw unusable('tls.key does not belong to tls.crt');
  try {
    // A key that is too short, or a chain with other content, is detected only here.
    if (accepted.get(certificate) !== key) createSecureContext({ cert: certificatePem, key: keyPem });
    accepted.set(certificate, key);
  } catch {
    throw unusable('TLS rejects it; use a chain of PEM certificates with a key of sufficient length');
  }
  return {
    certificatePem,
    keyPem,
    certificate,
    fingerprint: certificate.fingerprint256,
    notAfter: Date.parse(certificate.validTo),
  };
}

/** readUsableLeaf parses a certificate that must be valid now, for some names. Otherwise it throws. */
export function readUsableLeaf(
  where: string,
  { certificatePem, keyPem }: { readonly certificatePem: string | undefined; readonly keyPem: string | undefined },
  { names, now, terms }: { readonly names: readonly string[]; readonly now: number; readonly terms: CertificateTerms },
): Leaf {
  const leaf = readLeaf(where, certificatePem, keyPem, terms);
  const problem = leafMismatch(leaf, names, now);
  if (problem === undefined) return leaf;
  throw new BowlineError(
    terms.codes.unusable,
    `cannot use the ${terms.noun} in ${where}: ${problem}; provide one that is valid now for ${names.join(' and ')}, ${terms.nameUse}`,
  );
}

/**
 * leafMismatch returns why callers that use these names would currently reject a certificate, regardless of its issuer,
 * or undefined if they would not.
 */
export function leafMismatch(leaf: Leaf, names: readonly string[], now: number): string | undefined {
  if (leaf.notAfter <= now) return 'the certificate has expired';
  if (Date.parse(leaf.certificate.validFrom) > now) return 'the certificate is not valid yet';
  const missing = names.find((name) => !covers(leaf, name));
  return missing === undefined ? undefined : `the certificate is not valid for ${missing}`;
}

function covers({ certificate }: Leaf, name: string): boolean {
  return (isIP(name) ? certificate.checkIP(name) : certificate.checkHost(name, { subject: 'never' })) !== undefined;
}

const issued = new WeakMap<X509Certificate, WeakMap<X509Certificate, boolean>>();

/** isIssuedBy returns whether a CA signed a leaf. Results are cached because verifying a signature is expensive. */
export function isIssuedBy(leaf: Pick<Leaf, 'certificate'>, authority: Pick<Authority, 'certificate'>): boolean {
  const { certificate } = leaf;
  const results = issued.get(certificate) ?? new WeakMap<X509Certificate, boolean>();
  issued.set(certificate, results);
  const known = results.get(authority.certificate);
  if (known !== undefined) return known;
  const isIssued =
    certificate.checkIssued(authority.certificate) && certificate.verify(authority.certificate.publicKey);
  results.set(authority.certificate, isIssued);
  return isIssued;
}
