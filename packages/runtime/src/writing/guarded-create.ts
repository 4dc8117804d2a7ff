import type { KubernetesObject, ObjectKey, Resource } from '@bowline/kubernetes';
import { isAlreadyExists } from '../errors/api-error.ts';
import { checkDesired } from './check-desired.ts';
import type { Written } from './guarded-apply.ts';
import { relationTo } from './owner-reference.ts';
import { setOwner } from './owner-writes.ts';
import { foreignObject, isMarked, type Marks, marked } from './ownership.ts';
import { type Lookup, MOST_ATTEMPTS, type WriteClient } from './write-client.ts';

/** WriteCheck refuses, by throwing, an object that is about to be written. */
export type WriteCheck = (verb: string, resource: Resource, desired: KubernetesObject) => void;

/** CreatePlan is one creation, decided but for what is stored. */
export interface CreatePlan<T extends KubernetesObject> {
  readonly resource: Resource<T>;
  readonly key: ObjectKey;
  readonly make: () => T | Promise<T>;
  readonly marks: Marks;
  readonly check?: WriteCheck | undefined;
}

/** CreateTools are what the creations of one writer share. */
export interface CreateTools {
  readonly client: WriteClient;
  readonly fieldManager: string;
  readonly lookup: Lookup | undefined;
  readonly signal: AbortSignal | undefined;
}

/**
 * guardedCreate creates an object if none exists, and never changes the content of one. A cache may show that it exists; only the API
 * server knows that it does not.
 */
export async function guardedCreate<T extends KubernetesObject>(
  { client, fieldManager, lookup, signal }: CreateTools,
  { resource, key, make, marks, check }: CreatePlan<T>,
): Promise<Written<T>> {
  const cached = lookup?.(resource, key)?.object;
  // The lookup returns objects of the resource that it was asked about.
  if (cached && isMarked(cached, marks) && !isStale(cached, marks)) return existing(cached as T);
  for (let attempt = 1; ; attempt++) {
    const stored = await client.find(resource, key, { signal });
    if (stored) {
      if (!isMarked(stored, marks)) throw foreignObject('create', resource, key, stored, marks);
      const { owner } = marks;
      // The garbage collector would delete it, and its content with it, together with an owner that is gone.
      const kept =
        owner && isStale(stored, marks)
          ? await setOwner(client, resource, stored, owner, { fieldManager, signal })
          : stored;
      if (kept) return existing(kept);
      // Gone meanwhile.
    }
    const made = await make();
    const desired = marked(resource, { ...made, metadata: { ...made.metadata, ...key } }, marks);
    checkDesired('create', resource, desired);
    check?.('create', resource, desired);
    try {
      return { outcome: 'created', object: await client.create(resource, desired, { fieldManager, signal }) };
    } catch (error) {
      // Another client was quicker: what it created stays.
      if (!isAlreadyExists(error) || attempt >= MOST_ATTEMPTS) throw error;
    }
  }
}

function isStale(object: KubernetesObject, { owner }: Marks): boolean {
  return owner !== undefined && relationTo(owner, object) === 'stale';
}

function existing<T extends KubernetesObject>(object: T): Written<T> {
  return { outcome: object.metadata?.deletionTimestamp === undefined ? 'unchanged' : 'terminating', object };
}
