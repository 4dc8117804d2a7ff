import { apiVersionOf, type KubernetesObject, type ObjectKey, type Resource } from '@bowline/kubernetes';
import {
  appliedFields,
  type FieldDifference,
  type FieldShape,
  type FieldsV1,
  findDifference,
} from '@bowline/machinery';
import { isAlreadyExists, isConflict, isInvalid, isNotFound } from '../errors/api-error.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import type { Log } from '../observability/log.ts';
import { describeKey } from './describe-object.ts';
import { type Owner, relationTo } from './owner-reference.ts';
import { setOwner } from './owner-writes.ts';
import { foreignObject, type Marks } from './ownership.ts';
import type { SettledWrites } from './settled-writes.ts';
import { type Lookup, MOST_ATTEMPTS, type WriteClient } from './write-client.ts';

/** Written is what became of a write. */
export interface Written<T> {
  /**
   * - `created`, `configured`: a request changed the object;
   * - `unchanged`: it is as it should be; no write was sent, or one that stored nothing: the first of a process, where the
   *   server or a webhook completes what is asked for, so that the object alone does not tell what was;
   * - `terminating`: it is being deleted; nothing was written, write again when it is gone.
   */
  readonly outcome: 'created' | 'configured' | 'unchanged' | 'terminating';
  /** The object as stored; as far as the cache keeps it when no request was needed. Shared: never change it. */
  readonly object: T;
}

/** ApplyPlan is one write, decided but for what is stored. */
export interface ApplyPlan<T extends KubernetesObject> {
  readonly resource: Resource<T>;
  readonly key: ObjectKey;
  /** With our marks on it. */
  readonly desired: T;
  readonly marks: Marks;
  readonly isOurs: (object: KubernetesObject) => boolean;
  /** Whether a write holds only for the state that `isOurs` judged. Defaults to being content, after a collision, with the same object. */
  readonly isStateBound?: boolean | undefined;
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

/** guardedApply writes one object, by server-side apply if it exists: judged before it is touched, and only when something would change. */
export async function guardedApply<T extends KubernetesObject>(
  tools: ApplyTools,
  plan: ApplyPlan<T>,
): Promise<Written<T>> {
  return new GuardedApply(tools, plan).run();
}

class GuardedApply<T extends KubernetesObject> {
  readonly #tools: ApplyTools;
  readonly #plan: ApplyPlan<T>;
  #collided = false;
  /** How often an object was refused because it exists, and was not there. */
  #refusals = 0;
  /** Set, too, when the server refuses an apply to an absent object with a version: one that is unlike those we know. */
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
        // Once, somebody may have made and deleted it meanwhile.
        if (!state.object && !next.object && state.isLive && ++this.#refusals > 1) this.#createPlainly = true;
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
    const object = await client.create(resource, desired, { fieldManager, signal });
    this.#settle(object);
    return { outcome: 'created', object };
  }

  /** over writes over an object that is there; undefined when the cache is not enough to decide. */
  async #over(state: State<T>, object: T): Promise<Written<T> | undefined> {
    const plan = this.#plan;
    const tools = this.#tools;
    const { metadata = {} } = object;
    if (metadata.deletionTimestamp !== undefined) return { outcome: 'terminating', object };
    if (!plan.isOurs(object)) {
      if (!state.isLive) return undefined;
      throw foreignObject('apply', plan.resource, plan.key, object, plan.marks);
    }
    if (!state.isLive && (!state.isComplete || metadata.managedFields === undefined)) {
      return tools.settled.isAt(metadata, this.#plan.desired) ? { outcome: 'unchanged', object } : undefined;
    }
    const { owner } = plan.marks;
    if (owner && relationTo(owner, object) === 'stale') return this.#repair(object, owner);

    const { difference, isSettled } = this.#compare(object);
    if (isSettled) {
      if (state.isLive) this.#settle(object);
      return { outcome: 'unchanged', object };
    }
    tools.log.debug('writing an object that differs', {
      kind: plan.resource.kind,
      object: plan.key,
      difference,
    });
    const written = await this.#send(this.#identityFor(object));
    const isStored = written.metadata?.resourceVersion !== metadata.resourceVersion;
    return { outcome: isStored ? 'configured' : 'unchanged', object: written };
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
    const { client, fieldManager, signal } = this.#tools;
    const { resource, key, desired } = this.#plan;
    const body = { ...desired, metadata: { ...desired.metadata, ...identity } };
    const answer = await client.patch(resource, key, { type: 'apply', body, force: true }, { fieldManager, signal });
    this.#settle(answer);
    return answer;
  }

  /**
   * The state that was judged, so that nothing is written to an object which has been given away since. Objects whose status
   * changes all the time would never be met in that state: after a collision, with what the server has just said, it is
   * enough that it is the same object.
   */
  #identityFor(object: T): ReturnType<typeof identityOf> {
    const identity = identityOf(object);
    return this.#collided && !this.#plan.isStateBound ? { ...identity, resourceVersion: undefined } : identity;
  }

  /** compare says what an apply would change, and whether it would change anything that the server did not make of it before. */
  #compare(object: T): { difference?: FieldDifference | undefined; owned?: FieldsV1 | undefined; isSettled: boolean } {
    const { resource, desired } = this.#plan;
    const { fieldManager, shapeOf, settled } = this.#tools;
    const owned = appliedFields(object, fieldManager, apiVersionOf(resource));
    if (owned === undefined) return { difference: { path: '', why: 'owner' }, isSettled: false };
    const difference = findDifference(desired, object, owned, shapeOf(resource));
    return { difference, owned, isSettled: !difference || settled.isOutcome(object, this.#plan.desired, owned) };
  }

  #settle(answer: T): void {
    const { difference, owned } = this.#compare(answer);
    this.#tools.settled.settle(answer, this.#plan.desired, difference && owned);
  }

  #cached(): State<T> | undefined {
    const snapshot = this.#tools.lookup?.(this.#plan.resource, this.#plan.key, this.#plan.desired);
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

function contended({ resource, key }: Pick<ApplyPlan<KubernetesObject>, 'resource' | 'key'>): BowlineError {
  return new BowlineError(
    'BOWLINE_WRITE_CONTENDED',
    `cannot apply ${describeKey(resource, key)}: it comes and goes; find out who else writes it`,
    { retryable: true },
  );
}

function identityOf(object: KubernetesObject): { uid: string | undefined; resourceVersion: string | undefined } {
  return { uid: object.metadata?.uid, resourceVersion: object.metadata?.resourceVersion };
}
