import type { KubernetesObject, ObjectKey, Resource } from '@bowline/kubernetes';
import type { Clock } from '@bowline/machinery';
import type { Client } from '../client/client.ts';

/** WriteClient is the part of a client that writing needs. A reconcile's `live` is one that also records its writes. */
export type WriteClient = Pick<Client, 'find' | 'create' | 'patch' | 'delete'>;

/** WriteTools holds what helpers that write need of a run. The context of a reconcile is one. */
export interface WriteTools {
  readonly live: WriteClient;
  readonly clock: Pick<Clock, 'now'>;
  /** The owner of the written fields; see `fieldManagerOf`. */
  readonly fieldManager: string;
  /** Cancels every request. Defaults to none. */
  readonly signal?: AbortSignal | undefined;
}

/** CachedObject is the state of an object in a cache. */
export interface CachedObject {
  /** Undefined when the cache would hold the object and does not. */
  readonly object: KubernetesObject | undefined;
  /** Whether the object has all its content. Otherwise it has only its metadata, as far as the view keeps it. */
  readonly isComplete: boolean;
}

/**
 * Lookup reads an object from a cache; undefined when no cache can decide, so that the API server has to be queried.
 * `desired` is the object about to be written: a cache that would not keep such an object does not know whether it
 * exists. Without `desired`, only a cache that keeps all objects in its scope can decide.
 */
export type Lookup = (resource: Resource, key: ObjectKey, desired?: KubernetesObject) => CachedObject | undefined;

/** How often a write is retried because the object changed meanwhile. After that the caller's queue decides. */
export const MAX_ATTEMPTS = 4;
