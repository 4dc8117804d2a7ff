import { createHash } from 'node:crypto';
import { BoundedMap, type Clock, parseTime, quoteText } from '@bowline/machinery';
import type { Storage } from '../storage/storage.ts';
import { keyIn, objectOf, type Stored } from '../storage/stored.ts';
import { type JwtKey, readJwt, signJwt } from './jwt.ts';
import { serviceAccountGroups, serviceAccountName } from './service-account-name.ts';
import { type ObjectClaim, readClaims, type TokenClaims, writeClaims } from './token-claims.ts';
import { ALL_AUTHENTICATED, CREDENTIAL_ID, type UserInfo } from './user-info.ts';

/** TokenOutcome is the result of verifying a token: its user and the audiences that it is valid for, or a problem. */
export type TokenOutcome =
  | { readonly user: UserInfo; readonly audiences: readonly string[] }
  | {
      /** Why the token is invalid, as worded by the API server; undefined if this server did not issue it. */
      readonly problem: string | undefined;
    };

/** Tolerated clock skew, the same as in the API server. */
const LEEWAY_MS = 60_000;
/** How many verified signatures are cached. Verifying a signature costs a hundred times as much as the other checks. */
const MAX_CACHED_TOKENS = 1_000;

const EXTRA_PREFIX = 'authentication.kubernetes.io/';

/** ServiceAccountTokensOptions configures ServiceAccount tokens. */
export interface ServiceAccountTokensOptions {
  readonly storage: Storage;
  readonly clock: Clock;
  /** Signs new tokens. */
  readonly key: JwtKey;
  /** Additional keys whose tokens are still accepted. Defaults to none. */
  readonly olderKeys?: readonly JwtKey[] | undefined;
  /** Defaults to `https://kubernetes.default.svc`. */
  readonly issuer?: string | undefined;
  /** Audiences that stand for this server; the first is used in tokens that request none. Defaults to the issuer. */
  readonly audiences?: readonly string[] | undefined;
}

/**
 * ServiceAccountTokens issues and verifies ServiceAccount tokens. A token is valid as long as its account, and the
 * object that it is bound to, exist: deleting them takes effect immediately.
 */
export class ServiceAccountTokens {
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #keys: readonly [JwtKey, ...JwtKey[]];
  /** Claims of tokens whose signature was verified, by the hash of the token. */
  readonly #verified = new BoundedMap<string, TokenClaims>({ maxEntries: MAX_CACHED_TOKENS });
  readonly issuer: string;
  readonly audiences: readonly string[];

  constructor(options: ServiceAccountTokensOptions) {
    this.#storage = options.storage;
    this.#clock = options.clock;
    this.#keys = [options.key, ...(options.olderKeys ?? [])];
    this.issuer = options.issuer ?? 'https://kubernetes.default.svc';
    this.audiences = options.audiences ?? [this.issuer];
  }

  /** The keys whose tokens are accepted, newest first. */
  get keys(): readonly JwtKey[] {
    return this.#keys;
  }

  /** issue returns a signed token. */
  issue(claims: Omit<TokenClaims, 'issuer'>): string {
    const { namespace, serviceAccount } = claims;
    const subject = serviceAccountName(namespace, serviceAccount.name);
    return signJwt(this.#keys[0], writeClaims({ ...claims, issuer: this.issuer }, subject));
  }

  /** authenticate returns the user of a token, and the audiences that it is valid for. */
  authenticate(token: string, audiences: readonly string[] = this.audiences): TokenOutcome {
    const known = this.#verify(token);
    if ('problem' in known) return known;
    const { claims } = known;
    const matching = audiences.filter((audience) => claims.audiences.includes(audience));
    if (matching.length === 0) {
      const [tokenAudiences, targetAudiences] = [claims.audiences, audiences].map((each) =>
        each.map((one) => quoteText(one)).join(' '),
      );
      return {
        problem: `token audiences [${tokenAudiences}] is invalid for the target audiences [${targetAudiences}]`,
      };
    }
    const problem = this.#timeProblem(claims) ?? this.#objectProblem(claims);
    if (problem !== undefined) return { problem };
    const { namespace, serviceAccount, pod, node, id } = claims;
    const user = {
      username: serviceAccountName(namespace, serviceAccount.name),
      uid: serviceAccount.uid,
      groups: [...serviceAccountGroups(namespace), ALL_AUTHENTICATED],
      extra: { [CREDENTIAL_ID]: [`JTI=${id}`], ...extraOf('node', node), ...extraOf('pod', pod) },
    };
    return { user, audiences: matching };
  }

  #verify(token: string): { readonly claims: TokenClaims } | { readonly problem: string | undefined } {
    const hash = createHash('sha256').update(token).digest('base64');
    const cachedClaims = this.#verified.get(hash);
    if (cachedClaims) return { claims: cachedClaims };
    const jwt = readJwt(token);
    // Issued by another issuer: another authenticator may accept it.
    if (jwt?.claims.iss !== this.issuer) return { problem: undefined };
    const { kid } = jwt.header;
    const keys = this.#keys.filter(({ id }) => kid === undefined || kid === id);
    if (keys.length === 0) return { problem: 'invalid signature, no keys found' };
    if (!keys.some((key) => jwt.isSignedBy(key)))
      return { problem: 'go-jose/go-jose: error in cryptographic primitive' };
    const claims = readClaims(jwt.claims);
    if (!claims) return { problem: 'service account token claims are incomplete' };
    this.#verified.set(hash, claims);
    return { claims };
  }

  #timeProblem({ expiresAt, notBefore, issuedAt }: TokenClaims): string | undefined {
    const now = this.#clock.now();
    if (now - LEEWAY_MS > expiresAt * 1000) return 'service account token has expired';
    if (now + LEEWAY_MS < notBefore * 1000) return 'service account token is not valid yet';
    if (now + LEEWAY_MS < issuedAt * 1000) return 'service account token is issued in the future';
    return undefined;
  }

  #objectProblem({ namespace, serviceAccount, secret, pod, node }: TokenClaims): string | undefined {
    const account = this.#storage.get('serviceaccounts', keyIn(namespace, serviceAccount.name));
    if (!account) return `serviceaccounts ${quoteText(serviceAccount.name)} not found`;
    if (account.uid !== serviceAccount.uid)
      return `service account UID (${account.uid}) does not match claim (${serviceAccount.uid})`;
    if (this.#isDeleted(account)) return `service account ${namespace}/${serviceAccount.name} has been deleted`;
    return (
      this.#boundProblem('secret', 'secrets', namespace, secret) ??
      this.#boundProblem('pod', 'pods', namespace, pod) ??
      // The node of a token bound to a Pod only records where the Pod ran.
      (pod ? undefined : this.#boundProblem('node', 'nodes', '', node))
    );
  }

  #boundProblem(what: string, collection: string, namespace: string, claim?: ObjectClaim): string | undefined {
    if (!claim) return undefined;
    const stored = this.#storage.get(collection, keyIn(namespace, claim.name));
    if (!stored || this.#isDeleted(stored)) return 'service account token has been invalidated';
    if (stored.uid === claim.uid) return undefined;
    return `${what} UID (${stored.uid}) does not match service account ${what} ref claim (${claim.uid})`;
  }

  /**
   * An object counts as deleted a minute after its deletionTimestamp: until then it may need its token to shut down.
   */
  #isDeleted(stored: Stored): boolean {
    if (!stored.json.includes('"deletionTimestamp"')) return false;
    const { deletionTimestamp } = objectOf(stored).metadata ?? {};
    const time = deletionTimestamp === undefined ? undefined : parseTime(deletionTimestamp);
    return time !== undefined && time < this.#clock.now() - LEEWAY_MS;
  }
}

function extraOf(what: string, claim: ObjectClaim | undefined): Record<string, string[]> {
  if (!claim) return {};
  return { [`${EXTRA_PREFIX}${what}-name`]: [claim.name], [`${EXTRA_PREFIX}${what}-uid`]: [claim.uid] };
}
