import type { KubernetesObject, ObjectKey, Resource } from '@bowline/kubernetes';
import { isAlreadyExists } from '../errors/api-error.ts';
import { checkDesired } from './check-desired.ts';
import type { WriteResult } from './guarded-apply.ts';
import { relationTo } from './owner-reference.ts';
import { setOwner } from './owner-writes.ts';
import { foreignObject, hasOwnership, type Ownership, withOwnership } from './ownership.ts';
import { type Lookup, MAX_ATTEMPTS, type WriteClient } from './write-client.ts';

/** WriteCheck rejects, by throwing, an object that is about to be written. */
export type WriteCheck = (verb: string, resource: Resource, desired: KubernetesObject) => void;

/** CreatePlan is one creation, complete except for the stored state. */
export interface CreatePlan<T extends KubernetesObject> {
  readonly resource: Resource<T>;
  readonly key: ObjectKey;
  readonly make: () => T | Promise<T>;
  readonly ownership: Ownership;
  readonly check?: WriteCheck | undefined;
}

/** CreateTools holds what the creations of one writer share. */
export interface CreateTools {
  readonly client: WriteClient;
  readonly fieldManager: string;
  readonly lookup: Lookup | undefined;
  readonly signal: AbortSignal | undefined;
}

/**
 * guardedCreate creates an object if none exists, and never changes the content of one. A cache may show that the
 * object exists; only the API server knows that it does not.
 */
export async function guardedCreate<T extends KubernetesObject>(
  { client, fieldManager, lookup, signal }: CreateTools,
  { resource, key, make, ownership, check }: CreatePlan<T>,
): Promise<WriteResult<T>> {
  const cached = lookup?.(resource, key)?.object;
  // The lookup returns objects of the resource that it was called with.
  if (cached && hasOwnership(cached, ownership) && !isStale(cached, ownership)) return existing(cached as T);
  for (let attempt = 1; ; attempt++) {
    const stored = await client.find(resource, key, { signal });
    if (stored) {
      if (!hasOwnership(stored, ownership)) throw foreignObject('create', resource, key, stored, ownership);
      const { owner } = ownership;
      // The garbage collector would delete the object and its content, because its owner is gone.
      const kept =
        owner && isStale(stored, ownership)
          ? await setOwner(client, resource, stored, owner, { fieldManager, signal })
          : stored;
      if (kept) return existing(kept);
      // Gone meanwhile.
    }
    const made = await make();
    const desired = withOwnership(resource, { ...made, metadata: { ...made.metadata, ...key } }, ownership);
    checkDesired('create', resource, desired);
    check?.('create', resource, desired);
    try {
      return { outcome: 'created', object: await client.create(resource, desired, { fieldManager, signal }) };
    } catch (error) {
      // Another client was faster: the object it created stays.
      if (!isAlreadyExists(error) || attempt >= MAX_ATTEMPTS) throw error;
    }
  }
}

function isStale(object: KubernetesObject, { owner }: Ownership): boolean {
  return owner !== undefined && relationTo(owner, object) === 'stale';
}

function existing<T extends KubernetesObject>(object: T): WriteResult<T> {
  return { outcome: object.metadata?.deletionTimestamp === undefined ? 'unchanged' : 'terminating', object };
}
