import type { UserInfo } from '@bowline/kubernetes';
import type { Clock } from '@bowline/machinery';
import type { LiveClient } from '../controller/live-client.ts';
import type { CacheReads } from '../controller/sources.ts';
import type { Log } from '../observability/log.ts';
import type { GroupVersionKind, GroupVersionResource, Operation } from './admission-review.ts';

/**
 * SideEffects declares what a handler does besides returning its response:
 * - `None`: nothing. Its `live` client only reads and refuses writes;
 * - `NoneOnDryRun`: it may write, but `live` refuses writes during a dry run.
 */
export type SideEffects = 'None' | 'NoneOnDryRun';

/** ReadClient is the read-only part of a client. */
export type ReadClient = Pick<LiveClient, 'get' | 'find' | 'list' | 'canI' | 'canSubject'>;

/** AdmissionContext is passed to every handler in addition to the objects. Its members may be destructured. */
export interface AdmissionContext<S, Deps, Live> extends CacheReads<S> {
  /** Identifies this review in logs. */
  readonly uid: string;
  /** The kind of the object as named in the webhook's rules. */
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  /** For example `status`; undefined for the object itself. */
  readonly subresource: string | undefined;
  /** Undefined while the name is still to be generated, and for requests to a whole collection. */
  readonly name: string | undefined;
  /** Undefined for cluster-scoped kinds. */
  readonly namespace: string | undefined;
  /** The user who sent the request. */
  readonly userInfo: UserInfo;
  /** Nothing will be stored: the handler must not cause external side effects. */
  readonly dryRun: boolean;
  /** Aborted when the response would be too late or the caller is gone. Requests of `live` use it by default. */
  readonly signal: AbortSignal;
  /** Adds webhook, operation, uid, namespace and name to every line. */
  readonly log: Log;
  readonly clock: Clock;
  /** The return value of the operator's `setup`. */
  readonly deps: Deps;
  /** The API client, restricted by the declared side effects. */
  readonly live: Live;
}

/** LiveFor is the client type of a handler with these side effects. */
export type LiveFor<E extends SideEffects> = E extends 'NoneOnDryRun' ? Omit<LiveClient, 'watch'> : ReadClient;

/**
 * Subjects holds the objects of a request by operation. For a subresource other than `status` they are of that
 * subresource's kind.
 */
interface Subjects<T> {
  CREATE: { readonly operation: 'CREATE'; readonly object: T; readonly oldObject: undefined };
  UPDATE: { readonly operation: 'UPDATE'; readonly object: T; readonly oldObject: T };
  DELETE: { readonly operation: 'DELETE'; readonly object: undefined; readonly oldObject: T };
  CONNECT: { readonly operation: 'CONNECT'; readonly object: unknown; readonly oldObject: undefined };
}

/**
 * AdmissionRequest is the argument of a handler: a union over the declared operations, discriminated by `operation`.
 */
export type AdmissionRequest<T, O extends Operation, S = unknown, Deps = unknown, Live = ReadClient> = {
  [K in O]: Subjects<T>[K] & AdmissionContext<S, Deps, Live>;
}[O];
