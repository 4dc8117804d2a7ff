import type { Clock } from '@bowline/machinery';
import type { AccessQuestion, Client, Subject } from '../client/client.ts';
import { CachedReviews, type Reviewed } from './cached-reviews.ts';
import { reviewKey } from './review-key.ts';

/** AccessReviewsOptions configures the reviews. */
export interface AccessReviewsOptions {
  /** Must be allowed to create SubjectAccessReviews, or with `local` LocalSubjectAccessReviews: `REVIEW_PERMISSIONS`. */
  readonly client: Pick<Client, 'canSubject'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Whether to review single namespaces only, without permissions in the whole cluster. Defaults to false. */
  readonly local?: boolean | undefined;
  /** How long results are cached. 0 disables the cache. Defaults to 30 s. */
  readonly keepMs?: number | undefined;
}

/** MissingOptions limits one search. */
export interface MissingOptions {
  readonly signal?: AbortSignal | undefined;
  /** The number of missing permissions at which to stop: a message names no more. Defaults to 5. */
  readonly maxMissing?: number | undefined;
}

const KEEP_MS = 30_000;
// Several permissions for each of thousands of objects.
const MAX_CACHED_REVIEWS = 20_000;
// Of one search.
const MAX_IN_FLIGHT = 16;

/**
 * AccessReviews finds the permissions that a subject lacks, by SubjectAccessReviews. Results are cached for a short time:
 * a permission that was just granted or revoked takes effect after it.
 *
 * @example
 * const reviews = new AccessReviews({ client, clock });
 * const missing = await reviews.missing({ user: 'ann' }, [{ verb: 'get', resource: 'secrets', namespace: 'a', name: 'b' }]);
 */
export class AccessReviews {
  readonly #options: AccessReviewsOptions;
  readonly #cached: CachedReviews<undefined, undefined>;

  constructor(options: AccessReviewsOptions) {
    this.#options = options;
    const { clock, keepMs = KEEP_MS } = options;
    this.#cached = new CachedReviews({
      clock,
      grantedForMs: keepMs,
      deniedForMs: keepMs,
      maxCached: MAX_CACHED_REVIEWS,
    });
  }

  /**
   * missing returns the permissions that a subject lacks, or some of them if there are many. A permission that is needed
   * in several namespaces is first reviewed for the whole cluster: a subject that has it there costs one review. It
   * throws if a review fails.
   */
  async missing<Q extends AccessQuestion>(
    subject: Subject,
    questions: readonly Q[],
    options: MissingOptions = {},
  ): Promise<readonly Q[]> {
    const { signal, maxMissing = 5 } = options;
    const isAllowed = (question: AccessQuestion): Promise<boolean> => this.#isAllowed(subject, question, signal);
    const open = await this.#withoutClusterWide(questions, isAllowed);
    const lacking: Q[] = [];
    for (let start = 0; start < open.length && lacking.length < maxMissing; start += MAX_IN_FLIGHT) {
      const some = open.slice(start, start + MAX_IN_FLIGHT);
      const allowed = await Promise.all(some.map(isAllowed));
      lacking.push(...some.filter((_, index) => !allowed[index]));
    }
    return lacking.slice(0, maxMissing);
  }

  async #withoutClusterWide<Q extends AccessQuestion>(
    questions: readonly Q[],
    isAllowed: (question: AccessQuestion) => Promise<boolean>,
  ): Promise<readonly Q[]> {
    if (this.#options.local) return questions;
    const open = new Set<Q>();
    for (const same of groupedByAction(questions)) {
      const [first] = same;
      const clusterWide = first && { ...first, namespace: undefined, name: undefined };
      if (clusterWide && same.length > 1 && (await isAllowed(clusterWide))) continue;
      for (const question of same) open.add(question);
    }
    return [...open];
  }

  async #isAllowed(subject: Subject, question: AccessQuestion, signal: AbortSignal | undefined): Promise<boolean> {
    const { client, local = false } = this.#options;
    // The whole cluster cannot be reviewed in that mode.
    if (local && question.namespace === undefined) return false;
    const { granted } = await this.#cached.get(
      reviewKey(subject, question),
      async (): Promise<Reviewed<undefined, undefined>> => {
        const { allowed } = await client.canSubject(subject, question, { local });
        return { granted: allowed, value: undefined };
      },
      signal,
    );
    return granted;
  }
}

function groupedByAction<Q extends AccessQuestion>(questions: readonly Q[]): Iterable<readonly Q[]> {
  const groups = new Map<string, Q[]>();
  for (const question of questions) {
    const { verb, group = '', resource, subresource = '' } = question;
    const id = `${verb} ${group} ${resource} ${subresource}`;
    const known = groups.get(id);
    if (known) known.push(question);
    else groups.set(id, [question]);
  }
  return groups.values();
}
