import { createHash } from 'node:crypto';
import { SubjectAccessReview, TokenReview } from '@bowline/kubernetes';
import { BoundedMap, type Clock } from '@bowline/machinery';
import type { Client } from '../client/client.ts';
import type { Log } from '../observability/log.ts';

/** MetricsAccessOptions says whom to ask. */
export interface MetricsAccessOptions {
  /** May create TokenReviews and SubjectAccessReviews. */
  readonly client: Pick<Client, 'create'>;
  readonly wire: Clock;
  readonly log: Log;
}

/** Verdict is what becomes of a request. */
export type Verdict = 'allowed' | 'unauthenticated' | 'forbidden' | 'unavailable';

/** A right that was taken away holds this much longer; a scraper comes every 15 to 60 s. */
const ALLOWED_FOR_MS = 60_000;
/** Short, so that a right that was just granted shows; long enough that a wrong token costs little. */
const REFUSED_FOR_MS = 10_000;
/** Scrapers are few. What is more are guesses, which must not use memory or the API server up. */
const MOST_REMEMBERED = 256;
const MOST_IN_FLIGHT = 8;
const REVIEW_TIMEOUT_MS = 5_000;

/**
 * MetricsAccess decides who may read metrics: the API server says whose a token is (TokenReview) and whether they may `get` the
 * URL `/metrics` (SubjectAccessReview). Answers are remembered for a short while, by a hash of the token.
 */
export class MetricsAccess {
  readonly #options: MetricsAccessOptions;
  readonly #remembered = new BoundedMap<string, { readonly verdict: Verdict; readonly until: number }>({
    maxEntries: MOST_REMEMBERED,
  });
  readonly #inFlight = new Map<string, Promise<Verdict>>();

  constructor(options: MetricsAccessOptions) {
    this.#options = options;
  }

  /** decide says what becomes of a request with this Authorization header. */
  async decide(authorization: string | undefined): Promise<Verdict> {
    const token = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) return 'unauthenticated';
    const id = createHash('sha256').update(token).digest('base64');
    const known = this.#remembered.get(id);
    if (known && known.until > this.#options.wire.monotonic()) return known.verdict;
    const asked = this.#inFlight.get(id);
    if (asked) return await asked;
    if (this.#inFlight.size >= MOST_IN_FLIGHT) return 'unavailable';
    const asking = this.#ask(token)
      .then((verdict) => this.#remember(id, verdict))
      .finally(() => this.#inFlight.delete(id));
    this.#inFlight.set(id, asking);
    return await asking;
  }

  #remember(id: string, verdict: Verdict): Verdict {
    this.#remembered.delete(id);
    if (verdict === 'unavailable') return verdict;
    const forMs = verdict === 'allowed' ? ALLOWED_FOR_MS : REFUSED_FOR_MS;
    this.#remembered.set(id, { verdict, until: this.#options.wire.monotonic() + forMs });
    return verdict;
  }

  async #ask(token: string): Promise<Verdict> {
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
      log.warn('cannot ask whether somebody may read the metrics', { error });
      return 'unavailable';
    }
  }
}
