import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import { BowlineError } from '../../errors/bowline-error.ts';
import type { TlsMaterial } from './certificate-source.ts';

/** Authority is a certificate authority that is trusted, or was; with a key it can issue. */
export interface Authority {
  readonly certificatePem: string;
  /** Undefined for an authority of earlier days: nothing is issued from it any more. */
  readonly keyPem: string | undefined;
  readonly fingerprint: string;
  readonly notAfter: number;
  readonly certificate: X509Certificate;
}

/** Leaf is a server certificate with its key and what is known of it. */
export interface Leaf extends TlsMaterial {
  readonly certificate: X509Certificate;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;
/** Far more than a rotation ever needs; what comes behind is junk. */
const MOST_AUTHORITIES = 16;

/** readAuthorities gives the authorities in a bundle, each once; what cannot be read or is none is left out. */
export function readAuthorities(bundle: string): Authority[] {
  const found = new Map<string, Authority>();
  for (const [pem] of bundle.matchAll(CERTIFICATE)) {
    if (found.size >= MOST_AUTHORITIES) break;
    const authority = readAuthority(pem, undefined);
    if (authority && !found.has(authority.fingerprint)) found.set(authority.fingerprint, authority);
  }
  return [...found.values()];
}

/** readAuthority reads one authority; undefined when it is none. */
export function readAuthority(certificatePem: string, keyPem: string | undefined): Authority | undefined {
  try {
    const certificate = new X509Certificate(certificatePem);
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

/** readKey reads a private key; undefined when it is none. The parser's words are dropped: they may quote the key. */
export function readKey(pem: string | undefined): KeyObject | undefined {
  if (!pem) return undefined;
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}

/** readLeaf reads a certificate chain with its key, and throws, with a text that holds nothing of either, what is wrong. */
export function readLeaf(where: string, certificatePem: string | undefined, keyPem: string | undefined): Leaf {
  const unusable = (problem: string): BowlineError =>
    new BowlineError(
      'BOWLINE_WEBHOOK_CERTIFICATE',
      `cannot use the webhook certificate in ${where}: ${problem}; put a PEM certificate and its key there as tls.crt and tls.key`,
    );
  if (!certificatePem) throw unusable('tls.crt is missing');
  if (!keyPem) throw unusable('tls.key is missing');
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(certificatePem);
  } catch {
    throw unusable('tls.crt is not a PEM certificate');
  }
  const key = readKey(keyPem);
  if (!key) throw unusable('tls.key is not a PEM private key without passphrase');
  if (!certificate.checkPrivateKey(key)) throw unusable('tls.key does not belong to tls.crt');
  try {
    // A key that is too short, or a chain with something else in it, shows only here.
    createSecureContext({ cert: certificatePem, key: keyPem });
  } catch {
    throw unusable('TLS refuses it; give a chain of PEM certificates with a key of usual length');
  }
  return {
    certificatePem,
    keyPem,
    certificate,
    fingerprint: certificate.fingerprint256,
    notAfter: Date.parse(certificate.validTo),
  };
}

/** misfit is why callers that use these names refuse a certificate now, whoever issued it; undefined when they do not. */
export function misfit(leaf: Leaf, names: readonly string[], now: number): string | undefined {
  if (leaf.notAfter <= now) return 'the certificate has expired';
  if (Date.parse(leaf.certificate.validFrom) > now) return 'the certificate is not valid yet';
  const missing = names.find((name) => !covers(leaf, name));
  return missing === undefined ? undefined : `the certificate is not for ${missing}`;
}

function covers({ certificate }: Leaf, name: string): boolean {
  return (isIP(name) ? certificate.checkIP(name) : certificate.checkHost(name, { subject: 'never' })) !== undefined;
}

const issued = new WeakMap<X509Certificate, WeakMap<X509Certificate, boolean>>();

/** isIssuedBy says whether an authority signed a leaf. The answer of the same two is remembered: a signature is dear to check. */
export function isIssuedBy(leaf: Pick<Leaf, 'certificate'>, authority: Pick<Authority, 'certificate'>): boolean {
  const { certificate } = leaf;
  const answers = issued.get(certificate) ?? new WeakMap<X509Certificate, boolean>();
  issued.set(certificate, answers);
  const known = answers.get(authority.certificate);
  if (known !== undefined) return known;
  const answer = certificate.checkIssued(authority.certificate) && certificate.verify(authority.certificate.publicKey);
  answers.set(authority.certificate, answer);
  return answer;
}
