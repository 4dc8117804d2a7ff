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
import { foreignObject, type Ownership } from './ownership.ts';
import { type Lookup, MAX_ATTEMPTS, type WriteClient } from './write-client.ts';
import type { WriteMemo } from './write-memo.ts';

/** WriteResult is the result of a write. */
export interface WriteResult<T> {
  /**
   * - `created`, `configured`: a request changed the object;
   * - `unchanged`: it is as desired; no write was sent, or one that stored nothing: the first of a process, where the
   *   server or a webhook completes the desired object, so that the stored object alone does not show what was applied;
   * - `terminating`: it is being deleted; nothing was written, write again when it is gone.
   */
  readonly outcome: 'created' | 'configured' | 'unchanged' | 'terminating';
  /** The object as stored, or as far as the cache keeps it when no request was needed. Shared: never change it. */
  readonly object: T;
}

/** ApplyPlan is one write, complete except for the stored state. */
export interface ApplyPlan<T extends KubernetesObject> {
  readonly resource: Resource<T>;
  readonly key: ObjectKey;
  /** The desired object with our owner reference and labels. */
  readonly desired: T;
  readonly ownership: Ownership;
  readonly isOurs: (object: KubernetesObject) => boolean;
  /**
   * Whether a write is valid only for the state that `isOurs` judged. By default, after a conflict, it is enough that
   * it is the same object.
   */
  readonly isStateBound?: boolean | undefined;
  /** Whether the API server only checks the write. */
  readonly dryRun?: boolean | undefined;
}

/** ApplyTools holds what the writes of one writer share. */
export interface ApplyTools {
  readonly client: WriteClient;
  readonly fieldManager: string;
  readonly lookup: Lookup | undefined;
  readonly writeMemo: WriteMemo;
  readonly shapeOf: (resource: Resource) => FieldShape | undefined;
  readonly log: Log;
  readonly signal: AbortSignal | undefined;
}

/**
 * A version that no object has: etcd's first revision is the empty store. An apply that carries it creates a missing
 * object, and fails with 409 if the object exists by now, so that a forced apply never overwrites an object we have not
 * checked.
 */
const ABSENT_VERSION = '1';

/** State is the known state of the object: from the cache, or just read from the server. */
interface State<T> {
  readonly object: T | undefined;
  readonly isComplete: boolean;
  readonly isLive: boolean;
}

/**
 * guardedApply writes one object, by server-side apply if it exists. It checks the ownership first, and writes only
 * when something would change.
 */
export async function guardedApply<T extends KubernetesObject>(
  tools: ApplyTools,
  plan: ApplyPlan<T>,
): Promise<WriteResult<T>> {
  return new GuardedApply(tools, plan).run();
}

class GuardedApply<T extends KubernetesObject> {
  readonly #tools: ApplyTools;
  readonly #plan: ApplyPlan<T>;
  #hadConflict = false;
  /** How often a creation failed because the object exists, although a read did not find it. */
  #failedCreations = 0;
  /**
   * Also set when the server rejects an apply with a version for a missing object, which no server that we know does.
   */
  #usesPlainCreate = false;

  constructor(tools: ApplyTools, plan: ApplyPlan<T>) {
    this.#tools = tools;
    this.#plan = plan;
  }

  async run(): Promise<WriteResult<T>> {
    let state = this.#cached() ?? (await this.#live());
    // One attempt more than for writes: reading again because the cache held too little is not an attempt.
    for (let attempt = state.isLive ? 1 : 0; ; attempt++) {
      try {
        const result = state.object ? await this.#update(state, state.object) : await this.#create();
        if (result) return result;
      } catch (error) {
        if (!hasChanged(error, state.object) || attempt >= MAX_ATTEMPTS) throw error;
        this.#hadConflict = true;
        const next = await this.#live();
        // The first time, another client may have created and deleted it meanwhile.
        if (!state.object && !next.object && state.isLive && ++this.#failedCreations > 1) this.#usesPlainCreate = true;
        state = next;
        continue;
      }
      if (attempt > MAX_ATTEMPTS) throw contended(this.#plan);
      state = await this.#live();
    }
  }

  async #create(): Promise<WriteResult<T>> {
    if (!this.#usesPlainCreate) {
      return { outcome: 'created', object: await this.#send({ resourceVersion: ABSENT_VERSION }) };
    }
    const { client, fieldManager, signal } = this.#tools;
    const { resource, desired, dryRun } = this.#plan;
    const object = await client.create(resource, desired, { fieldManager, signal, ...(dryRun ? { dryRun } : {}) });
    if (!dryRun) this.#remember(object);
    return { outcome: 'created', object };
  }

  /** update updates an existing object; undefined when the cache is not enough to decide. */
  async #update(state: State<T>, object: T): Promise<WriteResult<T> | undefined> {
    const plan = this.#plan;
    const tools = this.#tools;
    const { metadata = {} } = object;
    if (metadata.deletionTimestamp !== undefined) return { outcome: 'terminating', object };
    if (!plan.isOurs(object)) {
      if (!state.isLive) return undefined;
      throw foreignObject('apply', plan.resource, plan.key, object, plan.ownership);
    }
    if (!state.isLive && (!state.isComplete || metadata.managedFields === undefined)) {
      return tools.writeMemo.isUnchanged(metadata, this.#plan.desired) ? { outcome: 'unchanged', object } : undefined;
    }
    const { owner } = plan.ownership;
    if (owner && relationTo(owner, object) === 'stale' && !plan.dryRun) return this.#repair(object, owner);

    const { difference, isUnchanged } = this.#compare(object);
    if (isUnchanged) {
      if (state.isLive) this.#remember(object);
      return { outcome: 'unchanged', object };
    }
    tools.log.debug('writing an object that differs', {
      kind: plan.resource.kind,
      object: plan.key,
      difference,
    });
    const written = await this.#send(this.#identityFor(object));
    // A dry run stores nothing, so it does not show what it would store.
    const isStored = plan.dryRun || written.metadata?.resourceVersion !== metadata.resourceVersion;
    return { outcome: isStored ? 'configured' : 'unchanged', object: written };
  }

  async #repair(object: T, owner: Owner): Promise<WriteResult<T> | undefined> {
    const { client, fieldManager, signal } = this.#tools;
    const repaired = await setOwner(client, this.#plan.resource, object, owner, { fieldManager, signal });
    return repaired && this.#update({ object: repaired, isComplete: true, isLive: true }, repaired);
  }

  async #send(identity: {
    readonly uid?: string | undefined;
    readonly resourceVersion?: string | undefined;
  }): Promise<T> {
    const { client, fieldManager, signal } = this.#tools;
    const { resource, key, desired, dryRun } = this.#plan;
    const body = { ...desired, metadata: { ...desired.metadata, ...identity } };
    const options = { fieldManager, signal, ...(dryRun ? { dryRun } : {}) };
    const response = await client.patch(resource, key, { type: 'apply', body, force: true }, options);
    if (!dryRun) this.#remember(response);
    return response;
  }

  /**
   * Returns the state that was checked, so that nothing is written to an object that has changed hands since. An object
   * whose status changes all the time would never be found in that state: after a conflict, with the state just read
   * from the server, it is enough that it is the same object.
   */
  #identityFor(object: T): ReturnType<typeof identityOf> {
    const identity = identityOf(object);
    return this.#hadConflict && !this.#plan.isStateBound ? { ...identity, resourceVersion: undefined } : identity;
  }

  /**
   * compare returns what an apply would change, and whether that differs from what the server made of the same apply
   * before.
   */
  #compare(object: T): {
    difference?: FieldDifference | undefined;
    owned?: FieldsV1 | undefined;
    isUnchanged: boolean;
  } {
    const { resource, desired } = this.#plan;
    const { fieldManager, shapeOf, writeMemo } = this.#tools;
    const owned = appliedFields(object, fieldManager, apiVersionOf(resource));
    if (owned === undefined) return { difference: { path: '', why: 'owner' }, isUnchanged: false };
    const difference = findDifference(desired, object, owned, shapeOf(resource));
    return {
      difference,
      owned,
      isUnchanged: !difference || writeMemo.hasSameOutcome(object, this.#plan.desired, owned),
    };
  }

  #remember(response: T): void {
    const { difference, owned } = this.#compare(response);
    this.#tools.writeMemo.remember(response, this.#plan.desired, difference && owned);
  }

  #cached(): State<T> | undefined {
    const snapshot = this.#tools.lookup?.(this.#plan.resource, this.#plan.key, this.#plan.desired);
    // The lookup returns objects of the resource that it was called with.
    return snapshot && { object: snapshot.object as T | undefined, isComplete: snapshot.isComplete, isLive: false };
  }

  async #live(): Promise<State<T>> {
    const { client, signal } = this.#tools;
    const object = await client.find(this.#plan.resource, this.#plan.key, { signal });
    return { object, isComplete: true, isLive: true };
  }
}

/**
 * hasChanged reports whether an error means that the object is not in the known state and must be read again.
 */
function hasChanged(error: unknown, known: KubernetesObject | undefined): boolean {
  if (isConflict(error) || isAlreadyExists(error)) return true;
  if (known === undefined) return false;
  // Without a version in the request, another object of the same name appears as an attempt to change its uid.
  return isNotFound(error) || (isInvalid(error) && error.causes.some(({ field }) => field === 'metadata.uid'));
}

function contended({ resource, key }: Pick<ApplyPlan<KubernetesObject>, 'resource' | 'key'>): BowlineError {
  return new BowlineError(
    'BOWLINE_WRITE_CONTENDED',
    `cannot apply ${describeKey(resource, key)}: it is repeatedly deleted and recreated; find out which other client writes it`,
    { retryable: true },
  );
}

function identityOf(object: KubernetesObject): { uid: string | undefined; resourceVersion: string | undefined } {
  return { uid: object.metadata?.uid, resourceVersion: object.metadata?.resourceVersion };
}
