import type { KubernetesObject, ListMeta, ObjectKey, Resource, Status } from '@bowline/kubernetes';
import type { ApiRequest } from '../errors/api-error.ts';

/** List is a page, or the whole, of a kind's objects. Items of a built-in list carry no apiVersion and kind on the wire; the client adds them. */
export interface List<T> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ListMeta;
  readonly items: readonly T[];
}

/** RequestOptions are common to every call. */
export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  /** Defaults to the client's (30 s). */
  readonly timeoutMs?: number | undefined;
}

/** ListOptions narrows and positions a list. */
export interface ListOptions extends RequestOptions {
  /** Defaults to all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly limit?: number | undefined;
  readonly continue?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan' | undefined;
  /** Ask for metadata only. Defaults to false. */
  readonly metadataOnly?: boolean | undefined;
}

/** WatchOptions narrows and positions a watch. */
export interface WatchOptions extends Omit<ListOptions, 'limit' | 'continue'> {
  readonly allowWatchBookmarks?: boolean | undefined;
  readonly sendInitialEvents?: boolean | undefined;
  /** How long the server keeps the watch open. */
  readonly timeoutSeconds?: number | undefined;
  /**
   * Told of lines that are skipped: an unknown event type, or an object of another kind (a Table, for instance). Defaults
   * to a warning in the client's log.
   */
  readonly onUnexpected?: ((event: UnexpectedWatchEvent) => void) | undefined;
}

/** UnexpectedWatchEvent is a readable line of a watch that is not an event of the watched kind. */
export interface UnexpectedWatchEvent {
  /** What is wrong with it. */
  readonly problem: 'type' | 'kind';
  readonly type: string;
  readonly apiVersion: string;
  readonly kind: string;
}

/** WatchEvent is one line of a watch. An ERROR line never appears here: it ends the stream with an ApiError. */
export interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: T;
}

/**
 * WatchStream is an open watch. It ends normally when the server closes it, and throws BOWLINE_WATCH_DECODE on a line
 * that cannot be read (skipping one would lose a state for ever).
 */
export interface WatchStream<T> extends AsyncIterable<WatchEvent<T>> {
  /** batches gives the events of one network chunk at a time: what a reflector wants. Iterate a stream once only. */
  batches(): AsyncIterable<readonly WatchEvent<T>[]>;
  /** aliveAt is the wire clock's monotonic time of the last sign of life: bytes or an answered PING. */
  aliveAt(): number;
}

/** WriteOptions are common to writes. */
export interface WriteOptions extends RequestOptions {
  /** Validate and admit, but store nothing. Defaults to false. */
  readonly dryRun?: boolean | undefined;
  readonly fieldManager?: string | undefined;
  /** What happens to unknown fields. Defaults to Strict: a silently dropped field is a lost intention. */
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict' | undefined;
  /** For instance `status` or `scale`. */
  readonly subresource?: string | undefined;
}

/** Patch is a change in one of the API's four forms. */
export type Patch =
  | { readonly type: 'json'; readonly body: readonly JsonPatchOperation[] }
  | { readonly type: 'merge' | 'strategic'; readonly body: object }
  | { readonly type: 'apply'; readonly body: object; readonly force?: boolean };

/** JsonPatchOperation is one step of RFC 6902. */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly from: string; readonly path: string };

/** DeleteOptions guards and shapes a deletion. */
export interface DeleteOptions extends RequestOptions {
  readonly dryRun?: boolean | undefined;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string } | undefined;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan' | undefined;
  readonly gracePeriodSeconds?: number | undefined;
}

/** WriteGuard decides, at the last moment, whether a write may start, and how long one may take. */
export interface WriteGuard {
  /** assertMayWrite throws BOWLINE_NOT_LEADER when a write may no longer start. */
  assertMayWrite(): void;
  /** No write outlives this, from when it may be sent: the wait for what other namespaces hold does not count. */
  readonly writeTimeoutMs: number;
}

/** RequestCheck decides, before a request is sent, whether it may be made, and throws when it may not. */
export type RequestCheck = (request: ApiRequest) => void;

/** AccessQuestion asks whether somebody may do something; see `Client.mayI` and `Client.maySubject`. */
export interface AccessQuestion {
  readonly verb: string;
  readonly group?: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** Subject is whom an access review is about. */
export interface Subject {
  readonly user: string;
  readonly groups?: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** ReviewOptions shapes an access review. */
export interface ReviewOptions extends RequestOptions {
  /**
   * Ask with a LocalSubjectAccessReview, in the namespace of the question: who has no rights in the whole cluster can be allowed
   * that. Defaults to false: a SubjectAccessReview, which can be about the whole cluster.
   */
  readonly local?: boolean | undefined;
}

/** Client is a typed client of one API server under one identity. Failures throw ApiError or BOWLINE_TRANSPORT_* errors. */
export interface Client extends AsyncDisposable {
  /** Who owns the fields of writes that name no field manager. Undefined: the API server chooses. */
  readonly fieldManager?: string | undefined;
  get<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options?: RequestOptions & { subresource?: string },
  ): Promise<T>;
  /** find is `get` that answers undefined when the object does not exist. */
  find<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options?: RequestOptions,
  ): Promise<T | undefined>;
  list<T extends KubernetesObject>(resource: Resource<T>, options?: ListOptions): Promise<List<T>>;
  watch<T extends KubernetesObject>(resource: Resource<T>, options?: WatchOptions): Promise<WatchStream<T>>;
  create<T extends KubernetesObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T>;
  /** update replaces the object; it carries a resourceVersion unless the kind allows blind updates. */
  update<T extends KubernetesObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T>;
  patch<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    patch: Patch,
    options?: WriteOptions,
  ): Promise<T>;
  /** delete answers the object when it lives on (finalizers, grace), else a Status. */
  delete<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options?: DeleteOptions,
  ): Promise<T | Status>;
  deleteCollection<T extends KubernetesObject>(
    resource: Resource<T>,
    options?: DeleteOptions & ListOptions,
  ): Promise<void>;
  /** requestToken issues a token for a ServiceAccount. */
  requestToken(
    serviceAccount: ObjectKey,
    options?: RequestOptions & {
      audiences?: readonly string[];
      expirationSeconds?: number;
      boundObject?: { apiVersion: string; kind: string; name: string; uid?: string };
    },
  ): Promise<{ token: string; expirationTimestamp: string }>;
  /** mayI asks whether this client's own identity may. */
  mayI(question: AccessQuestion, options?: RequestOptions): Promise<{ allowed: boolean; reason?: string }>;
  /** maySubject asks whether somebody else may. */
  maySubject(
    subject: Subject,
    question: AccessQuestion,
    options?: ReviewOptions,
  ): Promise<{ allowed: boolean; reason?: string }>;
  /** raw requests a path that no kind describes (`/version`, `/openapi/v3`) and answers the body's text. */
  raw(path: string, options?: RequestOptions & { accept?: string }): Promise<string>;
  /** guarded is the same client whose writes ask the guard first, after those that it asks already. */
  guarded(guard: WriteGuard): Client;
  /** checked is the same client that asks the check before each request, after those that it asks already. */
  checked(check: RequestCheck): Client;
  /** onLeaseLane is the same client on another lane; the lease's lane never waits behind other calls. */
  onLeaseLane(): Client;
  close(): Promise<void>;
}
