/**
 * Cause records why a key was put into a queue. Every reconcile carries the causes of its run, so that logs and the
 * dashboard can answer "why did this run?". A cause never influences a reconcile, which acts on the state alone.
 */
export type Cause =
  /** The primary object itself was added, changed or deleted. */
  | ({ readonly by: 'watch' } & ObjectCause)
  /** An object whose controlling owner is the primary changed. */
  | ({ readonly by: 'owner' } & ObjectCause)
  /** A watched object changed, and a map function named this key. */
  | ({ readonly by: 'map' } & ObjectCause)
  /** The last reconcile requested another run. */
  | { readonly by: 'requeue'; readonly afterMs: number }
  /** The periodic resync of everything. */
  | { readonly by: 'resync' }
  /** An optional source's kind became served, or is no longer served. */
  | { readonly by: 'served'; readonly kind: string; readonly isServed: boolean }
  /** The last reconcile failed; `code` is the error's, where it has one. */
  | { readonly by: 'retry'; readonly attempt: number; readonly code?: string | undefined }
  /** A stream outside Kubernetes named the key; `trigger` is its name. */
  | { readonly by: 'trigger'; readonly trigger: string }
  /** Code enqueued the key; `source` names the code. */
  | { readonly by: 'enqueue'; readonly source?: string | undefined };

/** ObjectCause names the object behind a cause and what happened to it. */
export interface ObjectCause {
  readonly kind: string;
  readonly key: string;
  readonly type: 'add' | 'update' | 'delete';
}

/** describeCause describes a cause in one short phrase, for people. */
export function describeCause(cause: Cause): string {
  switch (cause.by) {
    case 'watch':
      return `${cause.type} of ${cause.kind} ${cause.key}`;
    case 'owner':
      return `${cause.type} of owned ${cause.kind} ${cause.key}`;
    case 'map':
      return `${cause.type} of watched ${cause.kind} ${cause.key}`;
    case 'requeue':
      return `requeue after ${cause.afterMs} ms`;
    case 'resync':
      return 'resync';
    case 'served':
      return cause.isServed ? `${cause.kind} is served now` : `${cause.kind} is no longer served`;
    case 'retry':
      return cause.code ? `retry ${cause.attempt} after ${cause.code}` : `retry ${cause.attempt}`;
    case 'trigger':
      return `triggered by ${cause.trigger}`;
    case 'enqueue':
      return cause.source ? `enqueued by ${cause.source}` : 'enqueued';
  }
}

/**
 * isSameCause reports whether a second cause adds nothing to the first: a storm of updates of one object is one reason.
 */
export function isSameCause(one: Cause, other: Cause): boolean {
  if (one.by !== other.by) return false;
  if ('key' in one && 'key' in other) {
    return one.key === other.key && one.type === other.type && one.kind === other.kind;
  }
  if (one.by === 'enqueue' && other.by === 'enqueue') return one.source === other.source;
  if (one.by === 'served' && other.by === 'served') return one.kind === other.kind && one.isServed === other.isServed;
  if (one.by === 'trigger' && other.by === 'trigger') return one.trigger === other.trigger;
  return one.by === 'resync';
}
