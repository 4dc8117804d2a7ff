import type { KubernetesObject, ObjectKey, Resource } from '@bowline/kubernetes';
import type { View } from '../cache/view.ts';
import type { CleanupContext, KeyedContext, Reconcile, ReconcileContext } from './context.ts';
import type { Controller, WorkOptions } from './controller.ts';
import type { Predicate } from './predicates.ts';
import type {
  KeepsMetadata,
  KnownKind,
  MapOptions,
  NotYetDeclared,
  SecondaryOptions,
  SourceOf,
  SourceOptions,
} from './sources.ts';
import type { TriggerKeys } from './trigger-stream.ts';
import type {
  Applying,
  Ensuring,
  Owning,
  OwningOptions,
  Reporting,
  WriteKindOptions,
  WriteTypes,
} from './write-types.ts';

/** ControllerOptions configures a controller of a kind. */
export interface ControllerOptions<T extends KubernetesObject, V extends View<T>, I extends string>
  extends SourceOptions<T, V, I>,
    WorkOptions {
  /**
   * A DNS label. It appears in logs, metrics and the field manager, so changing it is a breaking change. Defaults to
   * the kind in lower case.
   */
  readonly name?: string | undefined;
  /**
   * The finalizer that keeps an object until its `cleanup` is done. It is part of stored objects. Defaults to
   * `<group>/finalizer`.
   */
  readonly finalizer?: string | undefined;
  /**
   * Whether the runtime reports the result of each run in `Ready`, `Reconciling` and `Stalled`. Only for kinds with a
   * status; when several controllers reconcile one kind, only one of them does it. Defaults to true.
   */
  readonly summarize?: boolean | undefined;
}

/** ReconciledController is a complete declaration, to which a cleanup may be added. */
export interface ReconciledController<Obj, S, Deps, W extends WriteTypes> extends Controller<Deps> {
  /**
   * cleanup sets the function that runs before an object may be removed. A finalizer keeps every object until the
   * function returns nothing; `{ requeueAfterMs }` means that there is more to do. It must be able to continue wherever
   * an earlier run stopped.
   */
  cleanup(fn: Reconcile<CleanupContext<Obj, S, Deps, W>>): Controller<Deps>;
}

/** ReconcileStep completes the declaration. */
export interface ReconcileStep<Obj, S, Deps, W extends WriteTypes> {
  /**
   * reconcile sets the function that processes a key. The object exists and is not being deleted: other keys do not
   * reach it.
   */
  reconcile(fn: Reconcile<ReconcileContext<Obj, S, Deps, W>>): ReconciledController<Obj, S, Deps, W>;
}

/**
 * ControllerStep adds sources, writes and predicates. Each method returns a new builder and does not change the old
 * one.
 */
export interface ControllerStep<Obj, S, Deps, W extends WriteTypes> extends ReconcileStep<Obj, S, Deps, W> {
  /**
   * owns declares children of the primary object: `ctx.apply` may write them, and when one changes, its owner is
   * reconciled. With `remove`, `ctx.remove` may delete them. With `apply: false` they are only watched, and no right to
   * write is needed.
   */
  owns<
    T extends KubernetesObject,
    Id extends string,
    V extends View<T> = 'full',
    I extends string = never,
    N extends string = Id,
    Apply extends boolean = true,
    Remove extends boolean = false,
  >(
    kind: Resource<T, Id> & NotYetDeclared<S, N> & KnownKind<Id>,
    options?: SecondaryOptions<T, V, I, N> & OwningOptions<Apply, Remove> & KeepsMetadata<Resource<T, Id>, V>,
  ): ControllerStep<
    Obj,
    S & { readonly [K in N]: SourceOf<Resource<T, Id>, V, I> },
    Deps,
    Owning<W, Id, Apply, Remove>
  >;

  /** watches adds any other objects as a source; `map` returns the primary keys that they concern. */
  watches<
    T extends KubernetesObject,
    Id extends string,
    V extends View<T> = 'full',
    I extends string = never,
    N extends string = Id,
  >(
    kind: Resource<T, Id> & NotYetDeclared<S, N> & KnownKind<Id>,
    options: MapOptions<T, V, I, N, S & { readonly [K in N]: SourceOf<Resource<T, Id>, V, I> }, ObjectKey>,
  ): ControllerStep<Obj, S & { readonly [K in N]: SourceOf<Resource<T, Id>, V, I> }, Deps, W>;

  /**
   * triggeredBy runs the keys of a stream outside Kubernetes: messages of a queue, calls of a webhook, a device. The
   * stream is open while the controller runs, on the leader only, and is reopened with a backoff when it fails or ends.
   * A key is only a hint: a key without an object is ignored, and keys sent while the stream is not open are lost.
   */
  triggeredBy(name: string, keys: TriggerKeys<ObjectKey, Deps, S>): ControllerStep<Obj, S, Deps, W>;

  /**
   * applies lets `ctx.apply` write a kind whose objects are not watched by their owner: children whose names we
   * generate. With `remove`, `ctx.remove` may delete them. For an owned kind it replaces what `owns` implies.
   */
  applies<Id extends string, const O extends WriteKindOptions = { remove: false }>(
    kind: Resource<KubernetesObject, Id> & KnownKind<Id>,
    options?: O,
  ): ControllerStep<Obj, S, Deps, Applying<W, Id, O>>;

  /**
   * ensures lets `ctx.ensure` write a kind: objects whose names a user chose. With `remove`, `ctx.remove` may delete
   * them.
   */
  ensures<Id extends string, const O extends WriteKindOptions = { remove: false }>(
    kind: Resource<KubernetesObject, Id> & KnownKind<Id>,
    options?: O,
  ): ControllerStep<Obj, S, Deps, Ensuring<W, Id, O>>;

  /** reports lets `ctx.eventAbout` send events about objects of a kind. `ctx.event` is for the primary object. */
  reports<Id extends string>(
    kind: Resource<KubernetesObject, Id>,
    options?: Pick<WriteKindOptions, 'namespaces'>,
  ): ControllerStep<Obj, S, Deps, Reporting<W, Id>>;

  /**
   * selects restricts the controller to the objects for which the function returns true, for example those that name
   * this install. The runtime ignores all others: no finalizer, no status, no cleanup. Selectors do the same on the
   * server, but cannot depend on the configuration. It must be pure.
   */
  selects(test: (object: Obj, deps: Deps) => boolean): ControllerStep<Obj, S, Deps, W>;

  /**
   * when restricts the events of the primary kind that cause work: all predicates must pass. It is the last step before
   * `reconcile`.
   */
  when(...predicates: readonly Predicate<Obj>[]): ReconcileStep<Obj, S, Deps, W>;
}

/** ControllerStart is the first step: it may also declare the dependencies of the reconcile function. */
export interface ControllerStart<Obj, S, W extends WriteTypes> extends ControllerStep<Obj, S, unknown, W> {
  /** using declares the type of `ctx.deps`; the operator's `setup` must return it. */
  using<Deps>(): ControllerStep<Obj, S, Deps, W>;
}

/** KeyedStep adds sources and writes to a keyed controller. */
export interface KeyedStep<S, Deps, W extends WriteTypes> {
  /** watches adds objects as a source; `map` returns the keys that they concern. */
  watches<
    T extends KubernetesObject,
    Id extends string,
    V extends View<T> = 'full',
    I extends string = never,
    N extends string = Id,
  >(
    kind: Resource<T, Id> & NotYetDeclared<S, N> & KnownKind<Id>,
    options: MapOptions<T, V, I, N, S & { readonly [K in N]: SourceOf<Resource<T, Id>, V, I> }, string>,
  ): KeyedReconcileStep<S & { readonly [K in N]: SourceOf<Resource<T, Id>, V, I> }, Deps, W>;

  /**
   * triggeredBy runs the keys of a stream outside Kubernetes: messages of a queue, calls of a webhook, a device. The
   * stream is open while the controller runs, on the leader only, and is reopened with a backoff when it fails or ends.
   * Keys sent while the stream is not open are lost: a newly opened stream should begin with every key that may need
   * work.
   */
  triggeredBy(name: string, keys: TriggerKeys<string, Deps, S>): KeyedReconcileStep<S, Deps, W>;
}

/** KeyedReconcileStep may complete the declaration: without a source no key would ever be enqueued. */
export interface KeyedReconcileStep<S, Deps, W extends WriteTypes> extends KeyedStep<S, Deps, W> {
  /**
   * applies lets `ctx.apply` write a kind. A keyed controller owns no objects: pass labels that identify what it
   * writes.
   */
  applies<Id extends string, const O extends WriteKindOptions = { remove: false }>(
    kind: Resource<KubernetesObject, Id> & KnownKind<Id>,
    options?: O,
  ): KeyedReconcileStep<S, Deps, Applying<W, Id, O>>;

  /** ensures lets `ctx.ensure` write a kind: objects whose names a user chose. */
  ensures<Id extends string, const O extends WriteKindOptions = { remove: false }>(
    kind: Resource<KubernetesObject, Id> & KnownKind<Id>,
    options?: O,
  ): KeyedReconcileStep<S, Deps, Ensuring<W, Id, O>>;

  /** reports lets `ctx.eventAbout` send events about objects of a kind. */
  reports<Id extends string>(
    kind: Resource<KubernetesObject, Id> & KnownKind<Id>,
    options?: Pick<WriteKindOptions, 'namespaces'>,
  ): KeyedReconcileStep<S, Deps, Reporting<W, Id>>;

  /** reconcile sets the function that processes a key. It also runs for keys that nothing maps to any more. */
  reconcile(fn: Reconcile<KeyedContext<S, Deps, W>>): Controller<Deps>;
}

/** KeyedStart is the first step of a keyed controller. */
export interface KeyedStart<W extends WriteTypes> extends KeyedStep<unknown, unknown, W> {
  /** using declares the type of `ctx.deps`; the operator's `setup` must return it. */
  using<Deps>(): KeyedStep<unknown, Deps, W>;
}
