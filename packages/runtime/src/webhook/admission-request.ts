import type { UserInfo } from '@bowline/kubernetes';
import type { Clock } from '@bowline/machinery';
import type { LiveClient } from '../controller/live-client.ts';
import type { CacheReads } from '../controller/sources.ts';
import type { Log } from '../observability/log.ts';
import type { GroupVersionKind, GroupVersionResource, Operation } from './admission-review.ts';

/**
 * SideEffects is what a handler does besides answering:
 * - `None`: nothing. Its `live` only reads, and a write is refused;
 * - `NoneOnDryRun`: it may write, but `live` refuses writes while the request is a dry run.
 */
export type SideEffects = 'None' | 'NoneOnDryRun';

/** ReadClient is the part of a client that changes nothing. */
export type ReadClient = Pick<LiveClient, 'get' | 'find' | 'list' | 'mayI' | 'maySubject'>;

/** AdmissionContext is what every handler gets besides the objects. Its members may be taken apart. */
export interface AdmissionContext<S, Deps, Live> extends CacheReads<S> {
  /** Identifies this review in logs. */
  readonly uid: string;
  /** The kind of the object as the webhook's rules name it. */
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  /** For instance `status`; undefined for the object itself. */
  readonly subresource: string | undefined;
  /** Undefined while the name is still to be generated, and for requests on a whole collection. */
  readonly name: string | undefined;
  /** Undefined for cluster-scoped kinds. */
  readonly namespace: string | undefined;
  /** Who asks. */
  readonly userInfo: UserInfo;
  /** Nothing will be stored: cause no effect outside. */
  readonly dryRun: boolean;
  /** Aborted when the answer would come too late, or nobody waits for it any more. Requests of `live` follow it by themselves. */
  readonly signal: AbortSignal;
  /** Carries webhook, operation, uid, namespace and name on every line. */
  readonly log: Log;
  readonly clock: Clock;
  /** What the operator's `setup` returned. */
  readonly deps: Deps;
  /** The API server, as far as the declared side effects allow. */
  readonly live: Live;
}

/** LiveFor is the client that a handler with these side effects gets. */
export type LiveFor<E extends SideEffects> = E extends 'NoneOnDryRun' ? Omit<LiveClient, 'watch'> : ReadClient;

/** Subjects are the objects of a request by its operation. Of another subresource than `status` they are of that one's kind. */
interface Subjects<T> {
  CREATE: { readonly operation: 'CREATE'; readonly object: T; readonly oldObject: undefined };
  UPDATE: { readonly operation: 'UPDATE'; readonly object: T; readonly oldObject: T };
  DELETE: { readonly operation: 'DELETE'; readonly object: undefined; readonly oldObject: T };
  CONNECT: { readonly operation: 'CONNECT'; readonly object: unknown; readonly oldObject: undefined };
}

/** AdmissionRequest is what a handler judges: a union over the declared operations, told apart by `operation`. */
export type AdmissionRequest<T, O extends Operation, S = unknown, Deps = unknown, Live = ReadClient> = {
  [K in O]: Subjects<T>[K] & AdmissionContext<S, Deps, Live>;
}[O];
