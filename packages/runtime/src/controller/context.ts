import type { ObjectKey } from '@bowline/kubernetes';
import type { Clock } from '@bowline/machinery';
import type { Log } from '../observability/log.ts';
import type { Cause } from '../queue/cause.ts';
import type { Deletion } from '../writing/deletion.ts';
import type { LiveClient } from './live-client.ts';
import type { CacheReads } from './sources.ts';
import type { ContextWrites, EventAboutFor, StatusFor, WriteTypes } from './write-types.ts';

/** EnqueueOptions configures when and how urgently a key runs. */
export interface EnqueueOptions {
  /** Defaults to 0. */
  readonly afterMs?: number | undefined;
  /** Higher goes first. Defaults to 0. */
  readonly priority?: number | undefined;
}

/** BaseContext is passed to every reconcile. It may be destructured: `async ({ key, get, log }) => …`. */
export interface BaseContext<S, Deps, Key, W extends WriteTypes> extends CacheReads<S>, ContextWrites<W> {
  readonly key: Key;
  /** Why this run happens: for logs and people, never for decisions. At most 16. */
  readonly causes: readonly Cause[];
  /**
   * 1 for the first attempt, plus one for each previous failure in a row. Runs that events caused before a retry was
   * due do not count.
   */
  readonly attempt: number;
  /**
   * Aborted when the reconcile's time is over, or the controller must stop immediately. Requests of `live` use it
   * automatically.
   */
  readonly signal: AbortSignal;
  /** Adds controller, key and reconcileId to every line. */
  readonly log: Log;
  readonly clock: Clock;
  /** What the operator's `setup` returned. */
  readonly deps: Deps;
  /** The owner of the fields that the controller writes: `<vendor>-<operator>-<controller>`. */
  readonly fieldManager: string;
  /**
   * The API server. Writes use the controller's field manager unless they name one. They fail once leadership is lost;
   * their results are immediately visible to `get` and `list`.
   */
  readonly live: LiveClient;
  /** enqueue requests a run of a key of this controller. */
  enqueue(key: Key, options?: EnqueueOptions): void;
  /**
   * eventAbout reports to people what happened to an object of a kind that is declared with `reports`. Call it in every
   * run of the key in which it holds: the event is sent when it begins to hold, and never fails the run.
   */
  readonly eventAbout: EventAboutFor<W['reports']>;
}

/** ReconcileContext is passed to the reconcile function of a kind: its object exists in the cache at this moment. */
export interface ReconcileContext<Obj, S, Deps, W extends WriteTypes> extends BaseContext<S, Deps, ObjectKey, W> {
  /** The object as the declared view keeps it. Shared: never change it. */
  readonly object: Obj;
  /**
   * Collects changes of the object's status: at most one patch after the function has returned, and none when nothing
   * changed.
   */
  readonly status: StatusFor<W['status']>;
  /**
   * event reports to people what happened to the object; `kubectl describe` shows it. Call it in every run in which it
   * holds: the event is sent when it begins to hold. The message must not contain ids and numbers that change each
   * time.
   */
  event(type: 'Normal' | 'Warning', reason: string, message: string): void;
}

/** CleanupContext is passed to the cleanup function of a kind: its object is being deleted. */
export interface CleanupContext<Obj, S, Deps, W extends WriteTypes> extends ReconcileContext<Obj, S, Deps, W> {
  /** When the deletion began, and what happens to the dependents. */
  readonly deletion: Deletion;
}

/** KeyedContext is passed to the reconcile function of a keyed controller. */
export type KeyedContext<S, Deps, W extends WriteTypes> = BaseContext<S, Deps, string, W>;

/** ReconcileResult is the result of a reconcile function: nothing, or when to run again even if nothing happens. */
export type ReconcileResult = { readonly requeueAfterMs?: number | undefined } | undefined;

/**
 * Reconcile brings the cluster to the state that the object describes. It runs again whenever anything it declared
 * changes.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing must be assignable.
export type Reconcile<Context> = (context: Context) => Promise<ReconcileResult | void> | ReconcileResult | void;
