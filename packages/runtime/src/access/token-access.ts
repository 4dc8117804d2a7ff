import { createHash } from 'node:crypto';
import { TokenReview } from '@bowline/kubernetes';
import { type Clock, systemClock } from '@bowline/machinery';
import type { AccessQuestion, Client, PathQuestion, Subject } from '../client/client.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import { CachedReviews, type Reviewed } from './cached-reviews.ts';
import { reviewKey } from './review-key.ts';

/** TokenAccessOptions configures which tokens are accepted, and how long results are cached. */
export interface TokenAccessOptions {
  /**
   * Must be allowed to create TokenReviews and SubjectAccessReviews. An operator's client works on every replica,
   * leader or not.
   */
  readonly client: Pick<Client, 'create' | 'canSubject'>;
  /**
   * Accepts only tokens that are issued for one of these audiences. A token for an audience of your own is useless at
   * the API server if it leaks. Defaults to the audiences of the API server.
   */
  readonly audiences?: readonly string[] | undefined;
  /**
   * How long a valid token and an allowed request are cached: a revoked one stays effective that long. Defaults to
   * 60 s.
   */
  readonly allowedForMs?: number | undefined;
  /**
   * How long an invalid token and a denied request are cached: a new permission takes effect after it. Defaults to
   * 10 s.
   */
  readonly deniedForMs?: number | undefined;
  /** The maximum number of cached tokens and of cached decisions, allowed and denied ones each. Defaults to 1024. */
  readonly maxCached?: number | undefined;
  /** The maximum number of concurrent reviews of tokens, and of permissions; others fail. Defaults to 64. */
  readonly maxInFlight?: number | undefined;
  /** The time limit of a review. Defaults to 5 s. */
  readonly timeoutMs?: number | undefined;
  /** The clock of the cache. Defaults to the system clock. */
  readonly clock?: Pick<Clock, 'monotonic'> | undefined;
}

/** AccessDecision is the result of a check: who the caller is, and whether it is allowed the action. */
export type AccessDecision =
  | { readonly verdict: 'allowed'; readonly user: Subject }
  /** The token is valid, but its user has no permission. Respond with 403. */
  | { readonly verdict: 'forbidden'; readonly user: Subject; readonly reason?: string | undefined }
  /** There is no token, or it is not valid for the audiences. Respond with 401. */
  | { readonly verdict: 'unauthenticated' };

/**
 * TokenAccess decides what the bearer of a token may do, as the API server decides it: a TokenReview authenticates the
 * token and a SubjectAccessReview authorizes its user. Results are cached for a short time, tokens only as hashes. If a
 * review fails, `decide` throws BOWLINE_ACCESS_REVIEW: respond with 503.
 *
 * @example
 * const access = new TokenAccess({ client, audiences: ['shop-api'] });
 * const question = { verb: 'get', group: 'example.com', resource: 'shops', namespace: 'default', name: 'tea' };
 * const { verdict } = await access.decide(request.headers.authorization, question);
 */
export class TokenAccess {
  readonly #client: TokenAccessOptions['client'];
  readonly #audiences: readonly string[];
  readonly #timeoutMs: number;
  readonly #users: CachedReviews<Subject, undefined>;
  readonly #permissions: CachedReviews<undefined, string | undefined>;

  constructor(options: TokenAccessOptions) {
    const { client, audiences = [], clock = systemClock, maxCached = 1024, maxInFlight = 64 } = options;
    const { allowedForMs: grantedForMs = 60_000, deniedForMs = 10_000, timeoutMs = 5_000 } = options;
    this.#client = client;
    this.#audiences = audiences;
    this.#timeoutMs = timeoutMs;
    const limits = { clock, grantedForMs, deniedForMs, maxCached, maxInFlight };
    this.#users = new CachedReviews(limits);
    this.#permissions = new CachedReviews(limits);
  }

  /** decide returns the decision for a request with this `Authorization` header. */
  async decide(authorization: string | undefined, question: AccessQuestion | PathQuestion): Promise<AccessDecision> {
    const token = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) return { verdict: 'unauthenticated' };
    try {
      const known = await this.#users.get(hashOf(token), () => this.#authenticate(token));
      if (!known.granted) return { verdict: 'unauthenticated' };
      const user = known.value;
      const permission = await this.#permissions.get(hashOf(reviewKey(user, question)), () =>
        this.#authorize(user, question),
      );
      return permission.granted
        ? { verdict: 'allowed', user }
        : { verdict: 'forbidden', user, reason: permission.value };
    } catch (cause) {
      if (cause instanceof BowlineError && cause.code === 'BOWLINE_ACCESS_REVIEW') throw cause;
      throw new BowlineError(
        'BOWLINE_ACCESS_REVIEW',
        `cannot review access: ${cause instanceof Error ? cause.message : 'the review failed'}`,
        { cause, retryable: true },
      );
    }
  }

  async #authenticate(token: string): Promise<Reviewed<Subject, undefined>> {
    const denied = { granted: false, value: undefined } as const;
    const spec = { token, ...(this.#audiences.length > 0 ? { audiences: this.#audiences } : {}) };
    const { status } = await this.#client.create(TokenReview, { spec }, { timeoutMs: this.#timeoutMs });
    const { username: user, uid, groups, extra } = status?.user ?? {};
    if (!status?.authenticated || !user || !this.#isForUs(status.audiences)) return denied;
    return {
      granted: true,
      value: { user, ...(uid ? { uid } : {}), ...(groups ? { groups } : {}), ...(extra ? { extra } : {}) },
    };
  }

  /**
   * An authenticator that does not know audiences returns none for a token of the API server, so the returned ones must
   * be compared.
   */
  #isForUs(accepted: readonly string[] = []): boolean {
    return this.#audiences.length === 0 || accepted.some((audience) => this.#audiences.includes(audience));
  }

  async #authorize(
    user: Subject,
    question: AccessQuestion | PathQuestion,
  ): Promise<Reviewed<undefined, string | undefined>> {
    const { allowed, reason } = await this.#client.canSubject(user, question, { timeoutMs: this.#timeoutMs });
    return allowed ? { granted: true, value: undefined } : { granted: false, value: reason };
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
