import type { Resource } from '@bowline/kubernetes';
import type { BackoffOptions } from '../queue/backoff.ts';
import type { Reconcile } from './context.ts';
import type { Source } from './sources.ts';
import type { TriggerDeclaration } from './trigger-stream.ts';

/** WorkOptions says how a controller works. */
export interface WorkOptions {
  /** How many keys are worked on at the same time. Defaults to 1. */
  readonly concurrency?: number | undefined;
  /**
   * How long one reconcile may take. Then its signal is aborted and another key gets its place; its own key stays blocked
   * until it has really ended. Defaults to 5 minutes.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Delays after failures. Defaults to 5 ms up to 1000 s, doubling. A run that an event brought before the delay was over
   * does not lengthen it.
   */
  readonly backoff?: BackoffOptions | undefined;
  /** How often every key is looked at although nothing happened, at low priority, give or take a tenth; false for never. Defaults to 10 hours. */
  readonly resyncMs?: number | false | undefined;
}

/** WriteDeclaration is a kind that a controller writes. */
export interface WriteDeclaration {
  readonly verb: 'apply' | 'ensure';
  readonly resource: Resource;
  readonly remove: boolean;
  /** Undefined: everywhere. */
  readonly namespaces: readonly string[] | undefined;
}

/** ReportDeclaration is a kind that a controller sends events about. */
export interface ReportDeclaration {
  readonly resource: Resource;
  /** Undefined: everywhere. */
  readonly namespaces: readonly string[] | undefined;
}

/**
 * Controller is a finished declaration: what is watched and what is done about it. It runs in a Manager, as part of an
 * operator. `Deps` is what it needs of the operator's `setup`.
 */
export interface Controller<in Deps = never> {
  readonly name: string;
  /** The primary kind first, unless the controller is keyed. */
  readonly sources: readonly Source[];
  /** Streams of keys from outside Kubernetes. */
  readonly triggers: readonly TriggerDeclaration[];
  readonly writes: readonly WriteDeclaration[];
  /** Besides the primary kind, which every controller of a kind reports about. */
  readonly reports: readonly ReportDeclaration[];
  /** Whether the runtime keeps `Ready`, `Reconciling` and `Stalled`. */
  readonly summarize: boolean;
  /** Present if and only if a cleanup is declared. */
  readonly finalization: { readonly finalizer: string; readonly cleanup: Reconcile<never> } | undefined;
  /** A finalizer that was named although there is no cleanup; an operator refuses that. */
  readonly unusedFinalizer?: string | undefined;
  readonly work: Readonly<{
    concurrency: number;
    timeoutMs: number;
    backoff: BackoffOptions;
    resyncMs: number | false;
  }>;
  /** Untyped here: the builder held the function and its context's type together. */
  readonly reconcile: Reconcile<never>;
  /** Never set: carries `Deps`. */
  readonly needs?: (deps: Deps) => void;
}
