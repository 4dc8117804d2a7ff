import type { KubernetesObject, ObjectKey, Resource } from '@bowline/kubernetes';
import type { Clock } from '@bowline/machinery';
import type { Client } from '../client/client.ts';

/** WriteClient is what writing needs of a client. A reconcile's `live` is one that also records what it wrote. */
export type WriteClient = Pick<Client, 'find' | 'create' | 'patch' | 'delete'>;

/** WriteTools are what helpers that write need of a run. The context of a reconcile is one. */
export interface WriteTools {
  readonly live: WriteClient;
  readonly clock: Pick<Clock, 'now'>;
  /** Who owns the fields that are written; see `fieldManagerOf`. */
  readonly fieldManager: string;
  /** Ends every request. Defaults to none. */
  readonly signal?: AbortSignal | undefined;
}

/** CachedObject is what a cache knows of an object. */
export interface CachedObject {
  /** Undefined when the cache would have it and it is not there. */
  readonly object: KubernetesObject | undefined;
  /** Whether the object is there with all its content. Otherwise its metadata is, as far as the view keeps it. */
  readonly isComplete: boolean;
}

/**
 * Lookup reads an object from a cache; undefined when no cache can say anything of it, so that the API server has to be asked.
 * `desired` is what is about to be written: a cache that would not keep such an object does not know whether it exists.
 * Without it, only a cache that keeps all objects of the place does.
 */
export type Lookup = (resource: Resource, key: ObjectKey, desired?: KubernetesObject) => CachedObject | undefined;

/** How often a write starts anew because the object changed meanwhile. After that the caller's queue decides. */
export const MOST_ATTEMPTS = 4;
