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
  /** A DNS label: stands in logs, metrics and the field manager, so changing it is a breaking change. Defaults to the kind in lower case. */
  readonly name?: string | undefined;
  /** What keeps an object until its `cleanup` is done. It stands in stored objects. Defaults to `<group>/finalizer`. */
  readonly finalizer?: string | undefined;
  /**
   * Whether the runtime says in `Ready`, `Reconciling` and `Stalled` how each run ended. For kinds with a status only; when
   * several controllers look after one kind, one of them does it. Defaults to true.
   */
  readonly summarize?: boolean | undefined;
}

/** ReconciledController is a finished declaration, to which a cleanup may be added. */
export interface ReconciledController<Obj, S, Deps, W extends WriteTypes> extends Controller<Deps> {
  /**
   * cleanup says what is done before an object may go. It keeps every object by a finalizer until the function returns
   * nothing; `{ requeueAfterMs }` means that there is more to do. It must be able to go on wherever an earlier run stopped.
   */
  cleanup(fn: Reconcile<CleanupContext<Obj, S, Deps, W>>): Controller<Deps>;
}

/** ReconcileStep ends the sentence. */
export interface ReconcileStep<Obj, S, Deps, W extends WriteTypes> {
  /** reconcile says what is done about a key. The object exists and is not being deleted: such a key never gets here. */
  reconcile(fn: Reconcile<ReconcileContext<Obj, S, Deps, W>>): ReconciledController<Obj, S, Deps, W>;
}

/** ControllerStep adds sources, writes and predicates. Each method gives a new builder and leaves the old one as it was. */
export interface ControllerStep<Obj, S, Deps, W extends WriteTypes> extends ReconcileStep<Obj, S, Deps, W> {
  /**
   * owns declares children of the primary object: `ctx.apply` may write them, and when one changes, its owner is reconciled. With
   * `remove`, `ctx.remove` may delete them. With `apply: false` they are only watched, and need no right to write.
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

  /** watches watches any other objects; `map` says which primary keys they concern. */
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
   * triggeredBy runs the keys of a stream outside Kubernetes: messages of a queue, calls of a webhook, a device. It is open
   * while the controller works, on the leader alone, and is opened again with a backoff when it fails or ends. A key is a
   * hint to look: one that has no object is left out, and what was sent while nobody listened is lost.
   */
  triggeredBy(name: string, keys: TriggerKeys<ObjectKey, Deps, S>): ControllerStep<Obj, S, Deps, W>;

  /**
   * applies lets `ctx.apply` write a kind whose objects are not watched by their owner: children whose names we make. With
   * `remove`, `ctx.remove` may delete them. Of a kind that is owned it replaces what `owns` implies.
   */
  applies<Id extends string, const O extends WriteKindOptions = { remove: false }>(
    kind: Resource<KubernetesObject, Id> & KnownKind<Id>,
    options?: O,
  ): ControllerStep<Obj, S, Deps, Applying<W, Id, O>>;

  /** ensures lets `ctx.ensure` write a kind: objects whose names a user chose. With `remove`, `ctx.remove` may delete them. */
  ensures<Id extends string, const O extends WriteKindOptions = { remove: false }>(
    kind: Resource<KubernetesObject, Id> & KnownKind<Id>,
    options?: O,
  ): ControllerStep<Obj, S, Deps, Ensuring<W, Id, O>>;

  /** reports lets `ctx.eventAbout` send events about objects of a kind. `ctx.event` is about the primary object. */
  reports<Id extends string>(
    kind: Resource<KubernetesObject, Id>,
    options?: Pick<WriteKindOptions, 'namespaces'>,
  ): ControllerStep<Obj, S, Deps, Reporting<W, Id>>;

  /** when narrows the events of the primary kind that cause work: all predicates must pass. Comes last before `reconcile`. */
  when(...predicates: readonly Predicate<Obj>[]): ReconcileStep<Obj, S, Deps, W>;
}

/** ControllerStart is the first step: it may also say what the reconcile function needs. */
export interface ControllerStart<Obj, S, W extends WriteTypes> extends ControllerStep<Obj, S, unknown, W> {
  /** using names the type of `ctx.deps`; the operator's `setup` must return it. */
  using<Deps>(): ControllerStep<Obj, S, Deps, W>;
}

/** KeyedStep adds sources and writes to a keyed controller. */
export interface KeyedStep<S, Deps, W extends WriteTypes> {
  /** watches watches objects; `map` says which keys they concern. */
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
   * triggeredBy runs the keys of a stream outside Kubernetes: messages of a queue, calls of a webhook, a device. It is open
   * while the controller works, on the leader alone, and is opened again with a backoff when it fails or ends. What was sent
   * while nobody listened is lost: a stream that is opened should begin with every key that may need work.
   */
  triggeredBy(name: string, keys: TriggerKeys<string, Deps, S>): KeyedReconcileStep<S, Deps, W>;
}

/** KeyedReconcileStep may end the sentence: without any source no key would ever come. */
export interface KeyedReconcileStep<S, Deps, W extends WriteTypes> extends KeyedStep<S, Deps, W> {
  /** applies lets `ctx.apply` write a kind. Nothing owns what a keyed controller makes: name labels that tell it apart. */
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

  /** reconcile says what is done about a key. It runs also for keys that nothing maps to any more. */
  reconcile(fn: Reconcile<KeyedContext<S, Deps, W>>): Controller<Deps>;
}

/** KeyedStart is the first step of a keyed controller. */
export interface KeyedStart<W extends WriteTypes> extends KeyedStep<unknown, unknown, W> {
  /** using names the type of `ctx.deps`; the operator's `setup` must return it. */
  using<Deps>(): KeyedStep<unknown, Deps, W>;
}
