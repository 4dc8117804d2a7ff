import type { KubernetesObject, ObjectKey, Resource } from '@bowline/kubernetes';
import type { Client } from '../client/client.ts';

/** WriteClient is what writing needs of a client. A reconcile's `live` is one that also records what it wrote. */
export type WriteClient = Pick<Client, 'find' | 'create' | 'patch' | 'delete'>;

/** CachedObject is what a cache knows of an object. */
export interface CachedObject {
  /** Undefined when the cache holds all objects of this place and this one is not there. */
  readonly object: KubernetesObject | undefined;
  /** Whether the object is there with all its content. A `metadata` view keeps less. */
  readonly isComplete: boolean;
}

/** Lookup reads an object from a cache; undefined when no cache covers it, so that the API server has to be asked. */
export type Lookup = (resource: Resource, key: ObjectKey) => CachedObject | undefined;

/** How often a write starts anew because the object changed meanwhile. After that the caller's queue decides. */
export const MOST_ATTEMPTS = 4;
