import { BoundedMap, type Clock } from '@bowline/machinery';
import type { AccessQuestion, Client, Subject } from '@bowline/runtime/client';
import type { Right } from './rights.ts';

/** AccessReviewsOptions configures the reviews. */
export interface AccessReviewsOptions {
  readonly client: Pick<Client, 'canSubject'>;
  readonly clock: Clock;
  /** Whether to review single namespaces only, without permissions in the whole cluster. Defaults to false. */
  readonly local?: boolean | undefined;
  /** How long answers are cached. 0 disables the cache. Defaults to 30 s. */
  readonly keepMs?: number | undefined;
}

/** MissingOptions limits one search. */
export interface MissingOptions {
  readonly signal?: AbortSignal | undefined;
  /** The number of missing rights at which to stop: a message names no more. Defaults to 5. */
  readonly maxMissing?: number | undefined;
}

const KEEP_MS = 30_000;
// Three for each of 5,000 copies, with a margin.
const MAX_CACHED_REVIEWS = 20_000;
const MAX_IN_FLIGHT = 16;

/** AccessReviews finds the rights that a subject lacks, by SubjectAccessReviews. */
export class AccessReviews {
  readonly #options: AccessReviewsOptions;
  readonly #cached: BoundedMap<string, boolean>;

  constructor(options: AccessReviewsOptions) {
    this.#options = options;
    const { clock, keepMs = KEEP_MS } = options;
    this.#cached = new BoundedMap({ maxEntries: MAX_CACHED_REVIEWS, expiry: { clock, afterMs: keepMs } });
  }

  /**
   * missing returns the rights that a subject lacks, or some of them if there are many. A right that is needed in
   * several namespaces is first checked for the whole cluster: a subject with a cluster-wide right costs one review.
   */
  async missing(subject: Subject, rights: readonly Right[], options: MissingOptions = {}): Promise<readonly Right[]> {
    const { signal, maxMissing = 5 } = options;
    const isAllowed = (right: Right): Promise<boolean> => this.#isAllowed(subject, right, signal);
    const open = await this.#withoutClusterWide(rights, isAllowed);
    const lacking: Right[] = [];
    for (let start = 0; start < open.length && lacking.length < maxMissing; start += MAX_IN_FLIGHT) {
      const some = open.slice(start, start + MAX_IN_FLIGHT);
      const cached = await Promise.all(some.map(isAllowed));
      lacking.push(...some.filter((_, index) => !cached[index]));
    }
    return lacking.slice(0, maxMissing);
  }

  async #withoutClusterWide(
    rights: readonly Right[],
    isAllowed: (right: Right) => Promise<boolean>,
  ): Promise<readonly Right[]> {
    if (this.#options.local) return rights;
    const open = new Set<Right>();
    for (const same of groupedByVerb(rights)) {
      const [first] = same;
      const clusterWide = first && { verb: first.verb, resource: first.resource };
      if (clusterWide && same.length > 1 && (await isAllowed(clusterWide))) continue;
      for (const right of same) open.add(right);
    }
    return [...open];
  }

  async #isAllowed(subject: Subject, right: Right, signal: AbortSignal | undefined): Promise<boolean> {
    const { client, local = false } = this.#options;
    // The whole cluster cannot be reviewed in that mode.
    if (local && right.namespace === undefined) return false;
    const key = JSON.stringify([subject.user, subject.uid, subject.groups, subject.extra, right]);
    const known = this.#cached.get(key);
    if (known !== undefined) return known;
    const { allowed } = await client.canSubject(subject, attributesOf(right), { signal, local });
    this.#cached.set(key, allowed);
    return allowed;
  }
}

function groupedByVerb(rights: readonly Right[]): Iterable<readonly Right[]> {
  const groups = new Map<string, Right[]>();
  for (const right of rights) {
    const id = `${right.verb} ${right.resource}`;
    const known = groups.get(id);
    if (known) known.push(right);
    else groups.set(id, [right]);
  }
  return groups.values();
}

function attributesOf({ verb, resource, namespace, name }: Right): AccessQuestion {
  return {
    verb,
    group: '',
    resource,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  };
}
