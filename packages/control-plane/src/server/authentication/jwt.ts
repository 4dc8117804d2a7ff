import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { BowlineError } from '@bowline/machinery';

/** JwtAlgorithm is the signature algorithm of tokens: RSA or ECDSA on the curve P-256. */
export type JwtAlgorithm = 'RS256' | 'ES256';

/** JwtKey verifies tokens and, if it has a private part, signs them. */
export interface JwtKey {
  /** Derived from the public key as the API server does: the same key has the same id on every server. */
  readonly id: string;
  readonly algorithm: JwtAlgorithm;
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject | undefined;
}

/** jwtKey parses a private or public key in PEM. */
export function jwtKey(pem: string): JwtKey {
  let publicKey: KeyObject;
  let privateKey: KeyObject | undefined;
  try {
    if (pem.includes('PRIVATE KEY')) privateKey = createPrivateKey(pem);
    publicKey = createPublicKey(privateKey ?? pem);
  } catch (error) {
    throw unusable('it is not a PEM-encoded key', error);
  }
  const id = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64url');
  return { id, algorithm: algorithmOf(publicKey), publicKey, privateKey };
}

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): JwtAlgorithm {
  if (asymmetricKeyType === 'rsa') return 'RS256';
  if (asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1') return 'ES256';
  throw unusable('it is neither an RSA key nor a P-256 key');
}

function unusable(why: string, cause?: unknown): BowlineError {
  const message = `cannot use the key for ServiceAccount tokens: ${why}; provide a PEM-encoded RSA or P-256 key`;
  return new BowlineError('BOWLINE_TOKEN_KEY', message, cause === undefined ? {} : { cause });
}

/** signJwt returns a signed token. */
export function signJwt({ id, algorithm, privateKey }: JwtKey, claims: Readonly<Record<string, unknown>>): string {
  if (!privateKey) throw unusable('it has no private key');
  const text = `${encoded({ alg: algorithm, kid: id })}.${encoded(claims)}`;
  return `${text}.${sign('sha256', Buffer.from(text), signatureOf(privateKey)).toString('base64url')}`;
}

/** Jwt is a token that was parsed but not verified yet. */
export interface Jwt {
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: Readonly<Record<string, unknown>>;
  /** isSignedBy reports whether the key made this signature, with the algorithm of the key and no other. */
  isSignedBy(key: JwtKey): boolean;
}

const BASE64URL = /^[\w-]+$/;

/** readJwt parses a token; it returns undefined for text that is not a token. */
export function readJwt(token: string): Jwt | undefined {
  const parts = token.split('.');
  const [head = '', body = '', signature = ''] = parts;
  if (parts.length !== 3 || !parts.every((part) => BASE64URL.test(part))) return undefined;
  const header = decoded(head);
  const claims = decoded(body);
  if (!header || !claims) return undefined;
  return {
    header,
    claims,
    isSignedBy: ({ algorithm, publicKey }) =>
      header.alg === algorithm &&
      // `crit` lists extensions that a recipient must understand; we support none.
      header.crit === undefined &&
      verify('sha256', Buffer.from(`${head}.${body}`), signatureOf(publicKey), Buffer.from(signature, 'base64url')),
  };
}

/** JWTs encode ECDSA signatures as two concatenated integers, which is not Node's default. */
function signatureOf(key: KeyObject): { key: KeyObject; dsaEncoding: 'ieee-p1363' } {
  return { key, dsaEncoding: 'ieee-p1363' };
}

function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function decoded(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
