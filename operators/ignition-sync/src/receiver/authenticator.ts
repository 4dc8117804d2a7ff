import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { WebhookTarget } from './decide-request.ts';
import { type SharedSecret, sha256, sharedSecret } from './shared-secret.ts';

/** SyncKey names an IgnitionSync. */
export interface SyncKey {
  readonly namespace: string;
  readonly name: string;
}

/** ReceiverSecrets holds the secrets, which are read in the background: a request never causes a read. */
export interface ReceiverSecrets {
  /** The secret of all IgnitionSyncs, if there is one. */
  hmac(): SharedSecret | undefined;
  /** The bearer token of all IgnitionSyncs, if there is one. */
  token(): SharedSecret | undefined;
  /** ofSync returns the secret that spec.webhook.secretRef names; undefined if there is none or it could not be read. */
  ofSync(key: SyncKey): SharedSecret | undefined;
}

/** AuthenticatorOptions configures which requests are authentic. */
export interface AuthenticatorOptions {
  readonly secrets: ReceiverSecrets;
  /** findSync reads the cache. It returns undefined for an IgnitionSync that receives no webhooks. */
  readonly findSync: (key: SyncKey) => WebhookTarget | undefined;
  /** Accept requests if no authentication is configured. Defaults to false. */
  readonly allowUnauthenticated?: boolean | undefined;
}

/** Credentials are what a request proves its origin with. */
interface Credentials {
  /** Well-formed signatures of 32 bytes. GitHub and Gitea also send some by other algorithms, which do not count. */
  readonly signatures: readonly Buffer[];
  /** The digest of the secret itself. */
  readonly secretDigest: Buffer | undefined;
  readonly tokenDigest: Buffer | undefined;
}

/**
 * Authenticator decides whether requests are authentic. It does the same work for an IgnitionSync without a secret and
 * for one that does not exist as for a wrong signature, so the time it takes reveals nothing.
 */
export class Authenticator {
  readonly #options: AuthenticatorOptions;
  /** Compared with when there is no secret. No request can match it, and a match would not count. */
  readonly #random = sharedSecret(randomBytes(32).toString('hex')) as SharedSecret;

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
  }

  /** isAuthentic reports whether any of the configured methods accepts a request. */
  isAuthentic(headers: IncomingHttpHeaders, body: Uint8Array, key: SyncKey): boolean {
    const { secrets, findSync, allowUnauthenticated = false } = this.#options;
    const credentials = credentialsOf(headers);
    const [hmac, token] = [secrets.hmac(), secrets.token()];
    if (this.#matches(credentials, body, hmac) || this.#matchesToken(credentials, token)) return true;
    const sync = findSync(key);
    const known = secrets.ofSync(key);
    const own = sync?.spec.webhook.secretRef === undefined ? undefined : known;
    if (this.#matches(credentials, body, own)) return true;
    const isConfigured = hmac !== undefined || token !== undefined || sync?.spec.webhook.secretRef !== undefined;
    return allowUnauthenticated && !isConfigured;
  }

  #matches({ signatures, secretDigest }: Credentials, body: Uint8Array, secret: SharedSecret | undefined): boolean {
    const { hmacKey, digest } = secret ?? this.#random;
    let isMatching = false;
    if (signatures.length > 0) {
      const expected = createHmac('sha256', hmacKey).update(body).digest();
      for (const signature of signatures) isMatching = timingSafeEqual(signature, expected) || isMatching;
    }
    if (secretDigest) isMatching = timingSafeEqual(secretDigest, digest) || isMatching;
    return isMatching && secret !== undefined;
  }

  #matchesToken({ tokenDigest }: Credentials, token: SharedSecret | undefined): boolean {
    const { digest } = token ?? this.#random;
    return tokenDigest !== undefined && timingSafeEqual(tokenDigest, digest) && token !== undefined;
  }
}

function credentialsOf(headers: IncomingHttpHeaders): Credentials {
  const [, token] = /^Bearer +(\S.*)$/i.exec(headers.authorization ?? '') ?? [];
  return {
    signatures: [
      ...signatureIn(headers['x-hub-signature-256'], 'sha256='),
      ...signatureIn(headers['x-hub-signature'], 'sha256='),
      ...signatureIn(headers['x-gitea-signature'], ''),
    ],
    secretDigest: digestOf(headers['x-gitlab-token']),
    tokenDigest: digestOf(token),
  };
}

function signatureIn(header: string | string[] | undefined, prefix: string): Buffer[] {
  if (typeof header !== 'string' || !header.startsWith(prefix)) return [];
  const hex = header.slice(prefix.length);
  return /^[0-9a-fA-F]{64}$/.test(hex) ? [Buffer.from(hex, 'hex')] : [];
}

/** Node decodes headers as Latin-1, so this restores their bytes. */
function digestOf(header: string | string[] | undefined): Buffer | undefined {
  return typeof header === 'string' && header !== '' ? sha256(Buffer.from(header, 'latin1')) : undefined;
}
