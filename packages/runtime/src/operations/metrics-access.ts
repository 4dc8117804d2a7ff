import { createHash } from 'node:crypto';
import { SubjectAccessReview, TokenReview } from '@bowline/kubernetes';
import { BoundedMap, type Clock } from '@bowline/machinery';
import type { Client } from '../client/client.ts';
import type { Log } from '../observability/log.ts';

/** MetricsAccessOptions configures the authorization of metrics. */
export interface MetricsAccessOptions {
  /** Must be allowed to create TokenReviews and SubjectAccessReviews. */
  readonly client: Pick<Client, 'create'>;
  readonly wire: Clock;
  readonly log: Log;
}

/** Verdict is the decision about a request. */
export type Verdict = 'allowed' | 'unauthenticated' | 'forbidden' | 'unavailable';

/** A revoked permission stays effective for this long; scrapers come every 15 to 60 s. */
const ALLOWED_FOR_MS = 60_000;
/** Short, so that a new permission takes effect soon; long enough that an invalid token costs little. */
const DENIED_FOR_MS = 10_000;
/** There are few scrapers. Further tokens are guesses, which must not exhaust memory or the API server. */
const MAX_CACHED = 256;
const MAX_IN_FLIGHT = 8;
const REVIEW_TIMEOUT_MS = 5_000;

/**
 * MetricsAccess decides who may read metrics: the API server authenticates the token (TokenReview) and authorizes its
 * user to `get` the URL `/metrics` (SubjectAccessReview). Results are cached briefly, by a hash of the token.
 */
export class MetricsAccess {
  readonly #options: MetricsAccessOptions;
  readonly #cached = new BoundedMap<string, { readonly verdict: Verdict; readonly until: number }>({
    maxEntries: MAX_CACHED,
  });
  readonly #inFlight = new Map<string, Promise<Verdict>>();

  constructor(options: MetricsAccessOptions) {
    this.#options = options;
  }

  /** decide returns the decision for a request with this Authorization header. */
  async decide(authorization: string | undefined): Promise<Verdict> {
    const token = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) return 'unauthenticated';
    const id = createHash('sha256').update(token).digest('base64');
    const known = this.#cached.get(id);
    if (known && known.until > this.#options.wire.monotonic()) return known.verdict;
    const pending = this.#inFlight.get(id);
    if (pending) return await pending;
    if (this.#inFlight.size >= MAX_IN_FLIGHT) return 'unavailable';
    const reviewing = this.#review(token)
      .then((verdict) => this.#remember(id, verdict))
      .finally(() => this.#inFlight.delete(id));
    this.#inFlight.set(id, reviewing);
    return await reviewing;
  }

  #remember(id: string, verdict: Verdict): Verdict {
    this.#cached.delete(id);
    if (verdict === 'unavailable') return verdict;
    const forMs = verdict === 'allowed' ? ALLOWED_FOR_MS : DENIED_FOR_MS;
    this.#cached.set(id, { verdict, until: this.#options.wire.monotonic() + forMs });
    return verdict;
  }

  async #review(token: string): Promise<Verdict> {
    const { client, log } = this.#options;
    const limit = { timeoutMs: REVIEW_TIMEOUT_MS };
    try {
      const { status } = await client.create(TokenReview, { spec: { token } }, limit);
      if (!status?.authenticated) return 'unauthenticated';
      const { username: user, uid, groups, extra } = status.user ?? {};
      const nonResourceAttributes = { path: '/metrics', verb: 'get' };
      const spec = { user, uid, groups, extra, nonResourceAttributes };
      const review = await client.create(SubjectAccessReview, { spec }, limit);
      return review.status?.allowed ? 'allowed' : 'forbidden';
    } catch (error) {
      log.warn('cannot review access to the metrics', { error });
      return 'unavailable';
    }
  }
}
