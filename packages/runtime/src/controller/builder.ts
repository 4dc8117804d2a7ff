import { type KubernetesObject, keyString, type ObjectKey, type Resource } from '@bowline/kubernetes';
import type { View, ViewOf } from '../cache/view.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import type { KeyedContext, Reconcile, ReconcileContext } from './context.ts';
import type { Controller, WorkOptions } from './controller.ts';
import { allOf, type Predicate } from './predicates.ts';
import type {
  KeepsMetadata,
  MapOptions,
  NotYetDeclared,
  SecondaryOptions,
  Source,
  SourceOf,
  SourceOptions,
} from './sources.ts';

/** ControllerOptions configures a controller of a kind. */
export interface ControllerOptions<T extends KubernetesObject, V extends View<T>, I extends string>
  extends SourceOptions<T, V, I>,
    WorkOptions {
  /** A DNS label: stands in logs, metrics and the field manager, so changing it is a breaking change. Defaults to the kind in lower case. */
  readonly name?: string | undefined;
}

/** ReconcileStep ends the sentence. */
export interface ReconcileStep<Obj, S, Deps> {
  /** reconcile says what is done about a key. The object exists: a deleted key never gets here. */
  reconcile(fn: Reconcile<ReconcileContext<Obj, S, Deps>>): Controller<Deps>;
}

/** ControllerStep adds sources and predicates. Each method gives a new builder and leaves the old one as it was. */
export interface ControllerStep<Obj, S, Deps> extends ReconcileStep<Obj, S, Deps> {
  /** owns watches objects whose controlling owner is a primary object, and looks at that one when they change. */
  owns<
    T extends KubernetesObject,
    Id extends string,
    V extends View<T> = 'full',
    I extends string = never,
    N extends string = Id,
  >(
    kind: Resource<T, Id> & NotYetDeclared<S, N>,
    options?: SecondaryOptions<T, V, I, N> & KeepsMetadata<Resource<T, Id>, V>,
  ): ControllerStep<Obj, S & { readonly [K in N]: SourceOf<Resource<T, Id>, V, I> }, Deps>;

  /** watches watches any other objects; `map` says which primary keys they concern. */
  watches<
    T extends KubernetesObject,
    Id extends string,
    V extends View<T> = 'full',
    I extends string = never,
    N extends string = Id,
  >(
    kind: Resource<T, Id> & NotYetDeclared<S, N>,
    options: MapOptions<T, V, I, N, S & { readonly [K in N]: SourceOf<Resource<T, Id>, V, I> }, ObjectKey>,
  ): ControllerStep<Obj, S & { readonly [K in N]: SourceOf<Resource<T, Id>, V, I> }, Deps>;

  /** when narrows the events of the primary kind that cause work: all predicates must pass. Comes last before `reconcile`. */
  when(...predicates: readonly Predicate<Obj>[]): ReconcileStep<Obj, S, Deps>;
}

/** ControllerStart is the first step: it may also say what the reconcile function needs. */
export interface ControllerStart<Obj, S> extends ControllerStep<Obj, S, unknown> {
  /** using names the type of `ctx.deps`; the operator's `setup` must return it. */
  using<Deps>(): ControllerStep<Obj, S, Deps>;
}

/** KeyedStep adds sources to a keyed controller. */
export interface KeyedStep<S, Deps> {
  /** watches watches objects; `map` says which keys they concern. */
  watches<
    T extends KubernetesObject,
    Id extends string,
    V extends View<T> = 'full',
    I extends string = never,
    N extends string = Id,
  >(
    kind: Resource<T, Id> & NotYetDeclared<S, N>,
    options: MapOptions<T, V, I, N, S & { readonly [K in N]: SourceOf<Resource<T, Id>, V, I> }, string>,
  ): KeyedReconcileStep<S & { readonly [K in N]: SourceOf<Resource<T, Id>, V, I> }, Deps>;
}

/** KeyedReconcileStep may end the sentence: without any source no key would ever come. */
export interface KeyedReconcileStep<S, Deps> extends KeyedStep<S, Deps> {
  /** reconcile says what is done about a key. It runs also for keys that nothing maps to any more. */
  reconcile(fn: Reconcile<KeyedContext<S, Deps>>): Controller<Deps>;
}

/** KeyedStart is the first step of a keyed controller. */
export interface KeyedStart extends KeyedStep<unknown, unknown> {
  /** using names the type of `ctx.deps`; the operator's `setup` must return it. */
  using<Deps>(): KeyedStep<unknown, Deps>;
}

/**
 * controller declares what keeps the objects of a kind as they should be. It reads as a sentence, ends with `reconcile`,
 * and does nothing until a Manager runs it.
 *
 * @example
 * const copies = controller(ConfigMap, { labelSelector: 'copy-to' })
 *   .watches(Namespace, { view: 'metadata', map: (_, cache) => cache.list(ConfigMap).map(keyOf) })
 *   .when(labelsChanged('copy-to'))
 *   .reconcile(async ({ object, live, log }) => { … });
 */
export function controller<
  T extends KubernetesObject,
  Id extends string,
  V extends Exclude<View<T>, { readonly kind: 'trigger' }> = 'full',
  I extends string = never,
>(
  kind: Resource<T, Id>,
  options: ControllerOptions<T, V, I> = {},
): ControllerStart<ViewOf<Resource<T, Id>, V>, { readonly [K in Id]: SourceOf<Resource<T, Id>, V, I> }> {
  const name = options.name ?? kind.kind.toLowerCase();
  // Which types belong together was checked where the caller named them; inside the builder they are erased.
  return builder(name, options, [source('primary', kind, options as unknown as AnyOptions)]) as never;
}

/**
 * keyed declares a controller whose keys are any strings that map functions name: for work that belongs to no single
 * object, such as one shared secret or a whole cluster.
 *
 * @example
 * const bundle = keyed('trust-bundle')
 *   .watches(ConfigMap, { labelSelector: 'bundle', view: 'metadata', map: () => ['bundle'] })
 *   .reconcile(async ({ list, live }) => { … });
 */
export function keyed(name: string, options: WorkOptions = {}): KeyedStart {
  return builder(name, options, []) as never;
}

/** The builder itself is untyped: the interfaces above are its types, one per step, and nothing else can be reached. */
function builder(name: string, work: WorkOptions, sources: readonly Source[]) {
  check(name, work, sources);
  const isKeyed = sources[0]?.role !== 'primary';
  const also = (next: Source) => builder(name, work, [...sources, next]);
  return {
    using: () => builder(name, work, sources),
    owns: (kind: Resource, options: AnyOptions = {}) => also(source('owns', kind, options)),
    watches: (kind: Resource, options: AnyOptions) => also(source('watches', kind, options, isKeyed)),
    when: (...predicates: readonly Predicate<unknown>[]) => {
      const [primary, ...others] = sources as [Source, ...Source[]];
      return builder(name, work, [{ ...primary, when: allOf(primary.when, ...predicates) }, ...others]);
    },
    reconcile: (reconcile: Reconcile<never>): Controller =>
      Object.freeze({
        name,
        sources,
        reconcile,
        work: {
          concurrency: work.concurrency ?? 1,
          timeoutMs: work.timeoutMs ?? 300_000,
          backoff: work.backoff ?? {},
          resyncMs: work.resyncMs ?? 36_000_000,
        },
      }),
  };
}

/** What any source's options are without their static types. */
interface AnyOptions
  extends Partial<Pick<Source, 'view' | 'namespaces' | 'labelSelector' | 'fieldSelector' | 'indexes'>> {
  readonly as?: string | undefined;
  readonly when?: Predicate<unknown> | readonly Predicate<unknown>[] | undefined;
  readonly map?: (object: unknown, cache: never) => Iterable<ObjectKey | string>;
}

function source(role: Source['role'], kind: Resource, options: AnyOptions, keyedMap = false): Source {
  const { as, when = [], map, view, namespaces, labelSelector, fieldSelector, indexes } = options;
  return {
    role,
    name: as ?? kind.id,
    resource: kind,
    view: view ?? 'full',
    namespaces,
    labelSelector,
    fieldSelector,
    indexes: indexes ?? {},
    when: typeof when === 'function' ? when : allOf(...when),
    map: map && (keyedMap ? (map as Source['map']) : keysOf(map)),
  };
}

function keysOf(map: NonNullable<AnyOptions['map']>): NonNullable<Source['map']> {
  return function* (object, cache) {
    for (const key of map(object, cache as never)) yield typeof key === 'string' ? key : keyString(key);
  };
}

function check(name: string, work: WorkOptions, sources: readonly Source[]): void {
  const refuse = (problem: string): never => {
    throw new BowlineError('BOWLINE_CONTROLLER_INVALID', `cannot declare the controller "${name}": ${problem}`);
  };
  if (!/^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) {
    refuse('the name must be a DNS label (lower-case letters, digits and dashes, at most 63)');
  }
  const { concurrency = 1, timeoutMs = 1, resyncMs = 1 } = work;
  if (!Number.isInteger(concurrency) || concurrency < 1) refuse('concurrency must be a whole number of at least 1');
  if (!(timeoutMs > 0)) refuse('timeoutMs must be more than 0');
  if (resyncMs !== false && !(resyncMs > 0)) refuse('resyncMs must be more than 0, or false for never');
  const names = new Set<string>();
  for (const each of sources) {
    if (names.has(each.name)) refuse(`${each.name} is declared twice; give one of them a name of its own with "as"`);
    names.add(each.name);
  }
}
