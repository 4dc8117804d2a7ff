import { apiVersionOf, type KubernetesObject, type ObjectKey, type Resource } from '@bowline/kubernetes';
import { appliedFields, type FieldShape, type FieldsV1, findDifference } from '@bowline/machinery';
import { isAlreadyExists, isConflict, isInvalid, isNotFound } from '../errors/api-error.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import type { Log } from '../observability/log.ts';
import { describeKey } from './describe-object.ts';
import { leftoversOf } from './exact-paths.ts';
import { type Owner, relationTo } from './owner-reference.ts';
import { setOwner } from './owner-writes.ts';
import { foreignObject, type Marks } from './ownership.ts';
import type { SettledWrites } from './settled-writes.ts';
import { type Lookup, MOST_ATTEMPTS, type WriteClient } from './write-client.ts';

/** Written is what became of a write. */
export interface Written<T> {
  /**
   * - `created`, `configured`: a request changed the object;
   * - `adopted`: it was not ours and is now;
   * - `unchanged`: it is as it should be; no write was sent;
   * - `terminating`: it is being deleted; nothing was written, write again when it is gone.
   */
  readonly outcome: 'created' | 'configured' | 'adopted' | 'unchanged' | 'terminating';
  /** The object as stored; as far as the cache keeps it when no request was needed. Shared: never change it. */
  readonly object: T;
}

/** ApplyPlan is one write, decided but for what is stored. */
export interface ApplyPlan<T extends KubernetesObject> {
  readonly verb: 'apply' | 'ensure';
  readonly resource: Resource<T>;
  readonly key: ObjectKey;
  /** With our marks on it. */
  readonly desired: T;
  readonly marks: Marks;
  readonly isOurs: (object: KubernetesObject) => boolean;
  /** Asked about an object that is not ours, as the server has it; true to take it over. */
  readonly adopt: ((existing: T) => Promise<boolean>) | undefined;
  /** Maps in which nothing but what is desired may stand. */
  readonly exact: readonly (readonly string[])[];
}

/** ApplyTools are what the writes of one writer share. */
export interface ApplyTools {
  readonly client: WriteClient;
  readonly fieldManager: string;
  readonly lookup: Lookup | undefined;
  readonly settled: SettledWrites;
  readonly shapeOf: (resource: Resource) => FieldShape | undefined;
  readonly log: Log;
  readonly signal: AbortSignal | undefined;
}

/**
 * A version that no object has: etcd's first revision is the empty store. An apply that carries it creates an object that is
 * absent and is refused with 409 when one has appeared, so that a forced apply never meets an object we have not judged.
 */
const ABSENT_VERSION = '1';

/** State is what we know of the object: from the cache, or as the server has just said. */
interface State<T> {
  readonly object: T | undefined;
  readonly isComplete: boolean;
  readonly isLive: boolean;
}

/** guardedApply writes one object by server-side apply: judged before it is touched, and only when something would change. */
export async function guardedApply<T extends KubernetesObject>(
  tools: ApplyTools,
  plan: ApplyPlan<T>,
): Promise<Written<T>> {
  return new GuardedApply(tools, plan).run();
}

class GuardedApply<T extends KubernetesObject> {
  readonly #tools: ApplyTools;
  readonly #plan: ApplyPlan<T>;
  #adopted = false;
  #collided = false;
  /** Set when the server refuses an apply to an absent object with a version: one that is unlike those we know. */
  #createPlainly = false;

  constructor(tools: ApplyTools, plan: ApplyPlan<T>) {
    this.#tools = tools;
    this.#plan = plan;
  }

  async run(): Promise<Written<T>> {
    let state = this.#cached() ?? (await this.#live());
    // One more than for writes: reading again because the cache said too little is no attempt.
    for (let attempt = state.isLive ? 1 : 0; ; attempt++) {
      try {
        const result = state.object ? await this.#over(state, state.object) : await this.#create();
        if (result) return result;
      } catch (error) {
        if (!saysThatItChanged(error, state.object) || attempt >= MOST_ATTEMPTS) throw error;
        this.#collided = true;
        const next = await this.#live();
        if (state.isLive && !state.object && !next.object) this.#createPlainly = true;
        state = next;
        continue;
      }
      if (attempt > MOST_ATTEMPTS) throw contended(this.#plan);
      state = await this.#live();
    }
  }

  async #create(): Promise<Written<T>> {
    if (!this.#createPlainly) {
      return { outcome: 'created', object: await this.#send({ resourceVersion: ABSENT_VERSION }) };
    }
    const { client, fieldManager, signal } = this.#tools;
    const { resource, desired } = this.#plan;
    // Safe everywhere, but it makes us own every default too; the next apply takes over from it.
    return { outcome: 'created', object: await client.create(resource, desired, { fieldManager, signal }) };
  }

  /** over writes over an object that is there; undefined when the cache is not enough to decide. */
  async #over(state: State<T>, object: T): Promise<Written<T> | undefined> {
    const plan = this.#plan;
    const tools = this.#tools;
    const { metadata = {} } = object;
    if (metadata.deletionTimestamp !== undefined) return { outcome: 'terminating', object };
    if (!plan.isOurs(object)) {
      if (!state.isLive) return undefined;
      if (!(await plan.adopt?.(object))) throw foreignObject(plan.verb, plan.resource, plan.key, object, plan.marks);
      this.#adopted = true;
    }
    const { owner } = plan.marks;
    if (owner && relationTo(owner, object) === 'stale') return this.#repair(object, owner);
    if (!state.isLive && (!state.isComplete || metadata.managedFields === undefined)) {
      return tools.settled.isAt(metadata, plan.desired) ? { outcome: 'unchanged', object } : undefined;
    }

    const owned = this.#ownedIn(object);
    const difference = this.#differenceIn(object, owned);
    const leftovers = leftoversOf(object, plan.desired, plan.exact);
    const isSettled = !difference || (owned !== undefined && tools.settled.isOutcome(object, plan.desired, owned));
    if (isSettled && !leftovers) {
      if (state.isLive) tools.settled.settle(object, plan.desired, difference && owned);
      return { outcome: this.#adopted ? 'adopted' : 'unchanged', object };
    }
    tools.log.debug('writing an object that differs', {
      kind: plan.resource.kind,
      object: plan.key,
      difference: difference ?? { path: leftovers?.path, why: 'foreign' },
    });
    const cleared = leftovers ? await this.#clear(object, leftovers.body) : object;
    const answer = isSettled ? cleared : await this.#send(this.#identityFor(cleared));
    return { outcome: this.#adopted ? 'adopted' : 'configured', object: answer };
  }

  async #repair(object: T, owner: Owner): Promise<Written<T> | undefined> {
    const { client, fieldManager, signal } = this.#tools;
    const repaired = await setOwner(client, this.#plan.resource, object, owner, { fieldManager, signal });
    return repaired && this.#over({ object: repaired, isComplete: true, isLive: true }, repaired);
  }

  async #send(identity: {
    readonly uid?: string | undefined;
    readonly resourceVersion?: string | undefined;
  }): Promise<T> {
    const { client, fieldManager, settled, signal } = this.#tools;
    const { resource, key, desired } = this.#plan;
    const body = { ...desired, metadata: { ...desired.metadata, ...identity } };
    const answer = await client.patch(resource, key, { type: 'apply', body, force: true }, { fieldManager, signal });
    const owned = this.#ownedIn(answer);
    settled.settle(answer, desired, this.#differenceIn(answer, owned) && owned);
    return answer;
  }

  #clear(object: T, body: object): Promise<T> {
    const { client, fieldManager, signal } = this.#tools;
    const { resource, key } = this.#plan;
    const patch = { ...body, metadata: identityOf(object) };
    return client.patch(resource, key, { type: 'merge', body: patch }, { fieldManager, signal });
  }

  /**
   * The state that was judged, so that nothing is written to an object which has been given away since. Objects whose status
   * changes all the time would never be met in that state: after a collision, with what the server has just said, it is
   * enough for `apply` that it is the same object.
   */
  #identityFor(object: T): ReturnType<typeof identityOf> {
    const identity = identityOf(object);
    return this.#plan.verb === 'apply' && this.#collided ? { ...identity, resourceVersion: undefined } : identity;
  }

  #ownedIn(object: T): FieldsV1 | undefined {
    return appliedFields(object, this.#tools.fieldManager, apiVersionOf(this.#plan.resource));
  }

  #differenceIn(object: T, owned: FieldsV1 | undefined): ReturnType<typeof findDifference> {
    const { resource, desired } = this.#plan;
    if (owned === undefined) return { path: '', why: 'owner' };
    return findDifference(desired, object, owned, this.#tools.shapeOf(resource));
  }

  #cached(): State<T> | undefined {
    const snapshot = this.#tools.lookup?.(this.#plan.resource, this.#plan.key);
    // The lookup answers for the resource it was asked about.
    return snapshot && { object: snapshot.object as T | undefined, isComplete: snapshot.isComplete, isLive: false };
  }

  async #live(): Promise<State<T>> {
    const { client, signal } = this.#tools;
    const object = await client.find(this.#plan.resource, this.#plan.key, { signal });
    return { object, isComplete: true, isLive: true };
  }
}

/** saysThatItChanged tells answers that mean: look again, the object is not what you think. */
function saysThatItChanged(error: unknown, known: KubernetesObject | undefined): boolean {
  if (isConflict(error) || isAlreadyExists(error)) return true;
  if (known === undefined) return false;
  // Without a version in the request, another object of the same name shows as an attempt to change its uid.
  return isNotFound(error) || (isInvalid(error) && error.causes.some(({ field }) => field === 'metadata.uid'));
}

function contended({
  verb,
  resource,
  key,
}: Pick<ApplyPlan<KubernetesObject>, 'verb' | 'resource' | 'key'>): BowlineError {
  return new BowlineError(
    'BOWLINE_WRITE_CONTENDED',
    `cannot ${verb} ${describeKey(resource, key)}: it comes and goes; find out who else writes it`,
    { retryable: true },
  );
}

function identityOf(object: KubernetesObject): { uid: string | undefined; resourceVersion: string | undefined } {
  return { uid: object.metadata?.uid, resourceVersion: object.metadata?.resourceVersion };
}
