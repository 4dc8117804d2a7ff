/** OperationRequest describes an operation on a source that a user needs the result of. */
export interface OperationRequest<T> {
  /** The identity of the source: repository, authentication and certificate authority. Operations of a source run one at a time. */
  readonly source: string;
  /** What is done, such as `resolve` or `fetch 1a2b…`. Requests of a source with the same name share one operation. */
  readonly name: string;
  /**
   * What of the operation's result the user needs, such as a ref. Items that are needed when an operation starts are handled
   * together. Defaults to one item for all.
   */
  readonly item?: string | undefined;
  /**
   * The operation must have ended at most this long ago. The time varies by a tenth with each operation, equally for all its
   * users: sources are not queried at the same time, and users with the same limit agree on when the next operation is due.
   * Defaults to any time.
   */
  readonly maxAgeMs?: number | undefined;
  /**
   * Identifies what the user wants now, for instance its generation, the version of its Secret and the time of a manual request.
   * When it changes, the backoff of the source is reset, and only an operation that starts from then on counts. Defaults to
   * none.
   */
  readonly trigger?: string | undefined;
  /** run executes the operation for all items, and returns a result for each; items without one have the result undefined. */
  readonly run: (signal: AbortSignal, items: readonly string[]) => Promise<ReadonlyMap<string, T>>;
}

/** OperationState is the state of what a user requested. */
export type OperationState<T> =
  /** It waits or runs; the user is notified when it ends. */
  | { readonly state: 'pending'; readonly previous: T | undefined }
  /** `value` is undefined if the operation had no result for the item. After `dueAfterMs`, a request starts the next one. */
  | { readonly state: 'done'; readonly value: T | undefined; readonly dueAfterMs: number }
  /** It is tried again when it is requested after `retryAfterMs`. */
  | {
      readonly state: 'failed';
      readonly error: unknown;
      readonly retryAfterMs: number;
      readonly previous: T | undefined;
    };

/** OperationReport describes an operation that ended, for metrics. */
export interface OperationReport {
  /** The first word of its name. */
  readonly operation: string;
  /** `ok`, `cancelled`, the class of a GitError, or `error`. */
  readonly result: string;
  readonly durationMs: number;
  /** The number of users that needed it. */
  readonly users: number;
}
