import type { ObjectKey } from '@bowline/kubernetes';
import type { Clock } from '@bowline/machinery';
import type { Log } from '../observability/log.ts';
import type { Cause } from '../queue/cause.ts';
import type { Deletion } from '../writing/deletion.ts';
import type { LiveClient } from './live-client.ts';
import type { CacheReads } from './sources.ts';
import type { ContextWrites, EventAboutFor, StatusFor, WriteTypes } from './write-types.ts';

/** EnqueueOptions says when and how urgently. */
export interface EnqueueOptions {
  /** Defaults to 0. */
  readonly afterMs?: number | undefined;
  /** Higher goes first. Defaults to 0. */
  readonly priority?: number | undefined;
}

/**
 * BaseContext is what every reconcile gets. Its members may be taken apart: `async ({ key, get, log }) => …`.
 */
export interface BaseContext<S, Deps, Key, W extends WriteTypes> extends CacheReads<S>, ContextWrites<W> {
  readonly key: Key;
  /** Why this run: for logs and people, never for decisions. At most 16. */
  readonly causes: readonly Cause[];
  /** 1 for the first try, one more for each failure in a row before it. Runs that events brought before a retry was due do not count. */
  readonly attempt: number;
  /** Aborted when the reconcile's time is over, or the controller must stop at once. Requests of `live` follow it by themselves. */
  readonly signal: AbortSignal;
  /** Carries controller, key and reconcileId on every line. */
  readonly log: Log;
  readonly clock: Clock;
  /** What the operator's `setup` returned. */
  readonly deps: Deps;
  /** Who owns the fields that the controller writes: `bowline-<operator>-<controller>`. */
  readonly fieldManager: string;
  /** The API server. Writes have the controller's field manager unless they name one. They are refused once leadership is lost; their answers are visible to `get` and `list` at once. */
  readonly live: LiveClient;
  /** enqueue asks for a run of a key of this controller. */
  enqueue(key: Key, options?: EnqueueOptions): void;
  /**
   * eventAbout tells people what happened to an object of a kind that is declared with `reports`. Said in every run of the
   * key in which it holds, it is sent when it begins to, and never fails the run.
   */
  readonly eventAbout: EventAboutFor<W['reports']>;
}

/** ReconcileContext is what the reconcile function of a kind gets: its object exists, in the cache, at this moment. */
export interface ReconcileContext<Obj, S, Deps, W extends WriteTypes> extends BaseContext<S, Deps, ObjectKey, W> {
  /** The object as the declared view keeps it. Shared: never change it. */
  readonly object: Obj;
  /** Collects what is said of the object: at most one patch, after the function, and none when nothing changed. */
  readonly status: StatusFor<W['status']>;
  /**
   * event tells people what happened to the object; `kubectl describe` shows it. Said in every run, it is sent when it begins
   * to hold. The message is free of ids and numbers that change each time.
   */
  event(type: 'Normal' | 'Warning', reason: string, message: string): void;
}

/** CleanupContext is what the cleanup function of a kind gets: its object is being deleted. */
export interface CleanupContext<Obj, S, Deps, W extends WriteTypes> extends ReconcileContext<Obj, S, Deps, W> {
  /** Since when, and what was asked for its dependents. */
  readonly deletion: Deletion;
}

/** KeyedContext is what the reconcile function of a keyed controller gets. */
export type KeyedContext<S, Deps, W extends WriteTypes> = BaseContext<S, Deps, string, W>;

/** ReconcileResult is what a reconcile function may return: nothing, or when to look again even if nothing happens. */
export type ReconcileResult = { readonly requeueAfterMs?: number | undefined } | undefined;

/** Reconcile brings the world to where the object says it should be. It runs again whenever anything it declared changes. */
// biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing must be assignable.
export type Reconcile<Context> = (context: Context) => Promise<ReconcileResult | void> | ReconcileResult | void;
