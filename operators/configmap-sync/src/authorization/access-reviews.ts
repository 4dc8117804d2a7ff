import { BoundedMap, type Clock } from '@bowline/machinery';
import type { AccessQuestion, Client, Subject } from '@bowline/runtime/client';
import type { Right } from './rights.ts';

/** AccessReviewsOptions configures the reviews. */
export interface AccessReviewsOptions {
  readonly client: Pick<Client, 'maySubject'>;
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
  readonly most?: number | undefined;
}

const KEEP_MS = 30_000;
// Three for each of 5,000 copies, with a margin.
const MOST_ANSWERS = 20_000;
const MOST_IN_FLIGHT = 16;

/** AccessReviews finds the rights that a subject lacks, by SubjectAccessReviews. */
export class AccessReviews {
  readonly #options: AccessReviewsOptions;
  readonly #answers: BoundedMap<string, boolean>;

  constructor(options: AccessReviewsOptions) {
    this.#options = options;
    const { clock, keepMs = KEEP_MS } = options;
    this.#answers = new BoundedMap({ maxEntries: MOST_ANSWERS, expiry: { clock, afterMs: keepMs } });
  }

  /**
   * missing returns the rights that a subject lacks, or some of them if there are many. A right that is needed in
   * several namespaces is first checked for the whole cluster: a subject with a cluster-wide right costs one review.
   */
  async missing(subject: Subject, rights: readonly Right[], options: MissingOptions = {}): Promise<readonly Right[]> {
    const { signal, most = 5 } = options;
    const ask = (right: Right): Promise<boolean> => this.#ask(subject, right, signal);
    const open = await this.#notEverywhere(rights, ask);
    const lacking: Right[] = [];
    for (let start = 0; start < open.length && lacking.length < most; start += MOST_IN_FLIGHT) {
      const some = open.slice(start, start + MOST_IN_FLIGHT);
      const answers = await Promise.all(some.map(ask));
      lacking.push(...some.filter((_, index) => !answers[index]));
    }
    return lacking.slice(0, most);
  }

  async #notEverywhere(rights: readonly Right[], ask: (right: Right) => Promise<boolean>): Promise<readonly Right[]> {
    if (this.#options.local) return rights;
    const open = new Set<Right>();
    for (const same of groupedByVerb(rights)) {
      const [first] = same;
      const everywhere = first && { verb: first.verb, resource: first.resource };
      if (everywhere && same.length > 1 && (await ask(everywhere))) continue;
      for (const right of same) open.add(right);
    }
    return [...open];
  }

  async #ask(subject: Subject, right: Right, signal: AbortSignal | undefined): Promise<boolean> {
    const { client, local = false } = this.#options;
    // The whole cluster cannot be reviewed in that mode.
    if (local && right.namespace === undefined) return false;
    const key = JSON.stringify([subject.user, subject.uid, subject.groups, subject.extra, right]);
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    const { allowed } = await client.maySubject(subject, questionOf(right), { signal, local });
    this.#answers.set(key, allowed);
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

function questionOf({ verb, resource, namespace, name }: Right): AccessQuestion {
  return {
    verb,
    group: '',
    resource,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  };
}
