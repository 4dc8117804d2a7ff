import { createHash, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto';
import { BowlineError } from '../errors/bowline-error.ts';
import { der, derObjectIdentifier, derTime, readDer, TAG } from './der.ts';

/** CertificateParts holds the content of a certificate. */
export interface CertificateParts {
  /** The issuer's name, exactly as in the issuer's own certificate. */
  readonly issuer: Buffer;
  readonly subject: Buffer;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly publicKey: KeyObject;
  readonly extensions: readonly Buffer[];
}

const VERSION_3 = Buffer.from([2]);

/**
 * signCertificate encodes a certificate with a new serial number and signs it. It returns PEM with a final line break.
 */
export function signCertificate(parts: CertificateParts, key: KeyObject): string {
  const algorithm = signatureAlgorithm(key);
  const content = der(
    TAG.sequence,
    der(contextTag(0), der(TAG.integer, VERSION_3)),
    der(TAG.integer, serialNumber()),
    algorithm,
    parts.issuer,
    der(TAG.sequence, derTime(parts.notBefore), derTime(parts.notAfter)),
    parts.subject,
    parts.publicKey.export({ type: 'spki', format: 'der' }),
    der(contextTag(3), der(TAG.sequence, ...parts.extensions)),
  );
  const whole = der(TAG.sequence, content, algorithm, bits(sign('sha256', content, key)));
  return new X509Certificate(whole).toString();
}

/** contextTag returns a context-specific tag that encloses other values. */
function contextTag(number: number): number {
  return 0xa0 | number;
}

/** bits encodes a bit string of whole bytes, or with unused bits in the last byte. */
export function bits(bytes: Uint8Array, unused = 0): Buffer {
  return der(TAG.bitString, Buffer.from([unused]), bytes);
}

/** Returns 127 random bits with the sign bit clear and no leading zero byte: positive, unique, and 16 bytes long. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes;
}

const NIST_CURVES: ReadonlySet<string | undefined> = new Set(['prime256v1', 'secp384r1', 'secp521r1']);

function signatureAlgorithm(key: KeyObject): Buffer {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (type === 'ec' && NIST_CURVES.has(details?.namedCurve))
    return der(TAG.sequence, derObjectIdentifier('1.2.840.10045.4.3.2'));
  if (type === 'rsa') return der(TAG.sequence, derObjectIdentifier('1.2.840.113549.1.1.11'), der(TAG.null));
  throw unusable(`its key is of type ${type ?? 'unknown'}, which is neither a NIST curve nor RSA`);
}

/** keyIdentifier returns the identifier of a key in certificates: the SHA-1 of its bits, as RFC 5280 proposes. */
export function keyIdentifier(publicKey: KeyObject): Buffer {
  const [info] = readDer(publicKey.export({ type: 'spki', format: 'der' }));
  const [, key] = readDer(info?.content ?? Buffer.alloc(0));
  // The first byte of a bit string is the number of unused bits.
  return createHash('sha1')
    .update(key?.content.subarray(1) ?? Buffer.alloc(0))
    .digest();
}

const SUBJECT_KEY_IDENTIFIER = derObjectIdentifier('2.5.29.14');

/** namesOf returns what the certificates of an issuer must repeat: its name, and its key identifier if it has one. */
export function namesOf(issuer: X509Certificate): { readonly subject: Buffer; readonly keyId: Buffer | undefined } {
  const [certificate] = readDer(issuer.raw);
  const [content] = readDer(certificate?.content ?? Buffer.alloc(0));
  const fields = readDer(content?.content ?? Buffer.alloc(0));
  // The version comes first, and is omitted for version 1.
  const offset = fields[0]?.tag === contextTag(0) ? 1 : 0;
  const subject = fields[offset + 4]?.whole ?? Buffer.alloc(0);
  const [extensions] = readDer(fields.find(({ tag }) => tag === contextTag(3))?.content ?? Buffer.alloc(0));
  for (const extension of readDer(extensions?.content ?? Buffer.alloc(0))) {
    const members = readDer(extension.content);
    if (members[0]?.whole.equals(SUBJECT_KEY_IDENTIFIER))
      return { subject, keyId: readDer(members.at(-1)?.content ?? Buffer.alloc(0))[0]?.content };
  }
  return { subject, keyId: undefined };
}

/** unusable returns the error for a certificate authority that cannot issue valid certificates. */
export function unusable(problem: string): BowlineError {
  return new BowlineError(
    'BOWLINE_CERTIFICATE_AUTHORITY_INVALID',
    `cannot issue from the certificate authority: ${problem}; provide the matching certificate and key of a valid authority`,
  );
}
