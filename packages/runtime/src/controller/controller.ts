import type { Resource } from '@bowline/kubernetes';
import type { BackoffOptions } from '../queue/backoff.ts';
import type { Reconcile } from './context.ts';
import type { Source } from './sources.ts';
import type { TriggerDeclaration } from './trigger-stream.ts';

/** WorkOptions configures how a controller works. */
export interface WorkOptions {
  /** How many keys are processed concurrently. Defaults to 1. */
  readonly concurrency?: number | undefined;
  /**
   * How long one reconcile may take. After that its signal is aborted and another key gets its slot; its own key stays
   * blocked until it has ended. Defaults to 5 minutes.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Delays after failures. Defaults to 5 ms up to 1000 s, doubling. A run that an event caused before the delay was
   * over does not lengthen it.
   */
  readonly backoff?: BackoffOptions | undefined;
  /**
   * How often every key runs although nothing happened, at low priority, plus or minus a tenth; false for never.
   * Defaults to 10 hours.
   */
  readonly resyncMs?: number | false | undefined;
}

/** WriteDeclaration declares a kind that a controller writes. */
export interface WriteDeclaration {
  readonly verb: 'apply' | 'ensure';
  readonly resource: Resource;
  readonly remove: boolean;
  /** Undefined: all namespaces. */
  readonly namespaces: readonly string[] | undefined;
  /** Undefined: all names. Never empty. */
  readonly names: readonly string[] | undefined;
}

/** ReportDeclaration declares a kind that a controller sends events about. */
export interface ReportDeclaration {
  readonly resource: Resource;
  /** Undefined: all namespaces. */
  readonly namespaces: readonly string[] | undefined;
}

/**
 * Controller is a complete declaration: what is watched and how it is reconciled. It runs in a Manager, as part of an
 * operator. `Deps` is the type of the dependencies that the operator's `setup` must return.
 */
export interface Controller<in Deps = never> {
  readonly name: string;
  /** The primary kind first, unless the controller is keyed. */
  readonly sources: readonly Source[];
  /** Returns whether an object is reconciled. Undefined: every object is. Untyped here, like `reconcile`. */
  readonly selects?: ((object: never, deps: never) => boolean) | undefined;
  /** Streams of keys from outside Kubernetes. */
  readonly triggers: readonly TriggerDeclaration[];
  readonly writes: readonly WriteDeclaration[];
  /** In addition to the primary kind, which every controller of a kind reports about. */
  readonly reports: readonly ReportDeclaration[];
  /** Whether the runtime maintains `Ready`, `Reconciling` and `Stalled`. */
  readonly summarize: boolean;
  /** Set if and only if a cleanup is declared. */
  readonly finalization: { readonly finalizer: string; readonly cleanup: Reconcile<never> } | undefined;
  /** A finalizer that was declared without a cleanup; an operator rejects that. */
  readonly unusedFinalizer?: string | undefined;
  readonly work: Readonly<{
    concurrency: number;
    timeoutMs: number;
    backoff: BackoffOptions;
    resyncMs: number | false;
  }>;
  /** Untyped here: the builder checked the function against the type of its context. */
  readonly reconcile: Reconcile<never>;
  /** Never set: it only carries the type `Deps`. */
  readonly needs?: (deps: Deps) => void;
}
