import type { KubernetesObject, ListMeta, ObjectKey, Resource, Status } from '@bowline/kubernetes';
import type { ApiRequest } from '../errors/api-error.ts';
import type { TokenSource } from '../transport/token-credentials.ts';

/**
 * WritableResource is a kind whose objects are read as `T` and written as `W`; a kind without defaults is written as it
 * is read.
 */
export type WritableResource<T, W> = Resource<T> & { readonly written?: W | undefined };

/**
 * List is one page, or all, of a kind's objects. Items of a built-in list carry no apiVersion and kind on the wire; the
 * client adds them.
 */
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
  /** Request metadata only. Defaults to false. */
  readonly metadataOnly?: boolean | undefined;
}

/** PagesOptions narrows a list that is read in pages. All pages show the state at the time of the first one. */
export interface PagesOptions
  extends Omit<ListOptions, 'limit' | 'continue' | 'resourceVersion' | 'resourceVersionMatch'> {
  /** The maximum number of objects per page. Defaults to 500. */
  readonly pageSize?: number | undefined;
  /**
   * What happens when the server no longer has the state of the first page, because reading took longer than it keeps
   * history (five minutes by default). `throw`: throws the ApiError, for which `isExpired` is true. `continue`: reads
   * the rest of the list in the current state; an object that existed the whole time is returned once, others may be
   * missing. Defaults to `throw`.
   */
  readonly onExpired?: 'throw' | 'continue' | undefined;
}

/**
 * TextRequest names the text of a subresource: the log of a Pod, or the response of a Pod or Service through `proxy/…`.
 */
export interface TextRequest extends RequestOptions {
  /** For example `log`, or `proxy/metrics`. */
  readonly subresource: string;
  /** Query parameters of the request. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
}

/** ReadTextOptions bounds a text that is read as a whole. */
export interface ReadTextOptions extends TextRequest {
  /** A longer text fails with BOWLINE_TEXT_TOO_LARGE. Defaults to 1 MiB. */
  readonly maxBytes?: number | undefined;
}

/** StreamTextOptions bounds a text that is read as it arrives. `timeoutMs` is the time until it begins. */
export interface StreamTextOptions extends TextRequest {
  /**
   * Ends the stream with BOWLINE_TEXT_IDLE when nothing arrives for this long while its reader waits. Defaults to
   * never: a log may be silent for hours, and a dead connection is detected by the transport.
   */
  readonly idleTimeoutMs?: number | undefined;
  /** A longer line fails with BOWLINE_TEXT_TOO_LARGE; `chunks` has no lines. Defaults to 1 MiB. */
  readonly maxLineBytes?: number | undefined;
}

/**
 * TextStream is an open text. It yields the lines, without their newlines. Nothing is read ahead of the reader. It ends
 * when the server has sent everything, and throws when the connection breaks or the signal is aborted. Iterate it once
 * only.
 */
export interface TextStream extends AsyncIterable<string> {
  /** chunks yields the text as it arrives instead of its lines. */
  chunks(): AsyncIterable<string>;
  /** aliveAt is the wire clock's monotonic time of the last activity: bytes or an acknowledged PING. */
  aliveAt(): number;
}

/** WatchOptions narrows and positions a watch. */
export interface WatchOptions extends Omit<ListOptions, 'limit' | 'continue'> {
  readonly allowWatchBookmarks?: boolean | undefined;
  readonly sendInitialEvents?: boolean | undefined;
  /** How long the server keeps the watch open. */
  readonly timeoutSeconds?: number | undefined;
  /**
   * Called with lines that are skipped: an unknown event type, or an object of another kind (for example a Table).
   * Defaults to a warning in the client's log.
   */
  readonly onUnexpected?: ((event: UnexpectedWatchEvent) => void) | undefined;
}

/** UnexpectedWatchEvent is a well-formed line of a watch that is not an event of the watched kind. */
export interface UnexpectedWatchEvent {
  /** What is wrong with the event. */
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
 * that cannot be parsed (skipping one would lose a state permanently).
 */
export interface WatchStream<T> extends AsyncIterable<WatchEvent<T>> {
  /**
   * batches yields the events of one network chunk at a time, which is what a reflector needs. Iterate a stream once
   * only.
   */
  batches(): AsyncIterable<readonly WatchEvent<T>[]>;
  /** aliveAt is the wire clock's monotonic time of the last activity: bytes or an acknowledged PING. */
  aliveAt(): number;
}

/** WriteOptions are common to all writes. */
export interface WriteOptions extends RequestOptions {
  /** Validates and admits the write, but stores nothing. Defaults to false. */
  readonly dryRun?: boolean | undefined;
  readonly fieldManager?: string | undefined;
  /** How the server treats unknown fields. Defaults to Strict: a silently dropped field is a lost intention. */
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict' | undefined;
  /** For example `status` or `scale`. */
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

/** DeleteOptions configures a deletion and its preconditions. */
export interface DeleteOptions extends RequestOptions {
  readonly dryRun?: boolean | undefined;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string } | undefined;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan' | undefined;
  readonly gracePeriodSeconds?: number | undefined;
}

/** WriteGuard decides, immediately before a write is sent, whether it may start, and how long it may take. */
export interface WriteGuard {
  /** assertMayWrite throws BOWLINE_NOT_LEADER when a write may no longer start. */
  assertMayWrite(): void;
  /**
   * The maximum time of a write, from the moment it may be sent: waiting for requests of other namespaces does not
   * count.
   */
  readonly writeTimeoutMs: number;
}

/** RequestCheck decides, before a request is sent, whether it may be made, and throws when it may not. */
export type RequestCheck = (request: ApiRequest) => void;

/** AccessQuestion describes an action whose permission is reviewed; see `Client.canI` and `Client.canSubject`. */
export interface AccessQuestion {
  readonly verb: string;
  /** Defaults to the core group. */
  readonly group?: string | undefined;
  /** The lower-case plural of the kind. */
  readonly resource: string;
  readonly subresource?: string | undefined;
  /** Undefined: in every namespace. */
  readonly namespace?: string | undefined;
  /** Undefined: under any name. */
  readonly name?: string | undefined;
}

/** PathQuestion describes an action on a URL path that belongs to no kind, such as `get /metrics`. */
export interface PathQuestion {
  /** An HTTP method in lower case. */
  readonly verb: string;
  readonly path: string;
}

/** Subject is the identity that an access review is about. */
export interface Subject {
  readonly user: string;
  readonly groups?: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** TokenRequestOptions configures a token of a ServiceAccount. */
export interface TokenRequestOptions extends RequestOptions {
  /** Defaults to the audiences of the API server. */
  readonly audiences?: readonly string[] | undefined;
  /** The lifetime; the API server may change it. Defaults to its choice. */
  readonly expirationSeconds?: number | undefined;
  /** A Pod or another object: the token is valid only while it exists. Defaults to none. */
  readonly boundObject?: { apiVersion: string; kind: string; name: string; uid?: string } | undefined;
}

/** ReviewOptions configures an access review. */
export interface ReviewOptions extends RequestOptions {
  /**
   * Use a LocalSubjectAccessReview, in the namespace of the question: a client without cluster-wide rights can be
   * allowed to create one. Not possible for a path, which has no namespace. Defaults to false: a SubjectAccessReview,
   * which can be about the whole cluster.
   */
  readonly local?: boolean | undefined;
}

/**
 * Client is a typed client of one API server under one identity. Failures throw ApiError or BOWLINE_TRANSPORT_* errors.
 */
export interface Client extends AsyncDisposable {
  /** The field manager of writes that name none. Undefined: the API server chooses. */
  readonly fieldManager?: string | undefined;
  get<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options?: RequestOptions & { subresource?: string },
  ): Promise<T>;
  /** find is like `get`, but returns undefined when the object does not exist. */
  find<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options?: RequestOptions,
  ): Promise<T | undefined>;
  list<T extends KubernetesObject>(resource: Resource<T>, options?: ListOptions): Promise<List<T>>;
  /**
   * pages lists a large collection page by page. A page is requested after the previous one was consumed, so only one
   * is in memory.
   *
   * @example
   * for await (const { items } of client.pages(ConfigMap)) for (const each of items) count(each);
   */
  pages<T extends KubernetesObject>(resource: Resource<T>, options?: PagesOptions): AsyncIterable<List<T>>;
  watch<T extends KubernetesObject>(resource: Resource<T>, options?: WatchOptions): Promise<WatchStream<T>>;
  /** readText reads a text subresource as a whole, up to a limit; `podLog` builds the request for the log of a Pod. */
  readText<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options: ReadTextOptions,
  ): Promise<string>;
  /** streamText opens a text subresource, and resolves when the server has accepted the request. */
  streamText<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options: StreamTextOptions,
  ): Promise<TextStream>;
  /**
   * create takes an object as its author writes it: fields with defaults may be omitted. Creating a review (of the
   * groups authentication.k8s.io and authorization.k8s.io) stores nothing, so guards are not called for it.
   */
  create<T extends KubernetesObject, W extends KubernetesObject = T>(
    resource: WritableResource<T, W>,
    object: NoInfer<W>,
    options?: WriteOptions,
  ): Promise<T>;
  /** update replaces the object, which carries a resourceVersion unless the kind allows unconditional updates. */
  update<T extends KubernetesObject, W extends KubernetesObject = T>(
    resource: WritableResource<T, W>,
    object: NoInfer<T | W>,
    options?: WriteOptions,
  ): Promise<T>;
  patch<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    patch: Patch,
    options?: WriteOptions,
  ): Promise<T>;
  /** delete returns the object if it remains (finalizers, grace period), else a Status. */
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
    options?: TokenRequestOptions,
  ): Promise<{ token: string; expirationTimestamp: string }>;
  /** canI reports whether this client's own identity is allowed the action. */
  canI(
    question: AccessQuestion | PathQuestion,
    options?: RequestOptions,
  ): Promise<{ allowed: boolean; reason?: string }>;
  /** canSubject reports whether another subject is allowed the action. */
  canSubject(
    subject: Subject,
    question: AccessQuestion | PathQuestion,
    options?: ReviewOptions,
  ): Promise<{ allowed: boolean; reason?: string }>;
  /** raw requests a path that no kind describes (`/version`, `/openapi/v3`) and returns the body's text. */
  raw(path: string, options?: RequestOptions & { accept?: string }): Promise<string>;
  /** guarded returns the same client with one more guard for its writes, called after the existing ones. */
  guarded(guard: WriteGuard): Client;
  /** checked returns the same client with one more check before each request, called after the existing ones. */
  checked(check: RequestCheck): Client;
  /**
   * withFieldManager returns the same client, with this field manager for writes that name none, unless the client has
   * one already.
   */
  withFieldManager(fieldManager: string): Client;
  /**
   * withToken returns a client of the same server that acts as the bearer of a token. It shares connection settings
   * (address, CA, proxy, limits) and guards, such as leadership, with this one. It does not share this client's
   * identity: its credentials and impersonation, its connections, its checks, such as the declared permissions of an
   * operator, and its field manager. Close it separately.
   *
   * @example
   * await using reader = client.withToken((await client.requestToken({ namespace: 'default', name: 'reader' })).token);
   */
  withToken(token: TokenSource): Client;
  /** onLeaseLane returns the same client on the lease lane, which never waits behind other calls. */
  onLeaseLane(): Client;
  close(): Promise<void>;
}
