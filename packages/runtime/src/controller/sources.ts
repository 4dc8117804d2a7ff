import type { KubernetesObject, ObjectKey, Resource } from '@bowline/kubernetes';
import type { ReadOptions } from '../cache/informer.ts';
import type { View, ViewOf } from '../cache/view.ts';
import type { Predicate } from './predicates.ts';

/** SourceType is what is statically known of a source: the type of a read, and the names of its indexes. */
export interface SourceType {
  readonly value: unknown;
  readonly index: string;
}

/** SourceTypes are the sources of a controller by name: the kind's id, or what `as` says. */
export interface SourceTypes {
  readonly [name: string]: SourceType;
}

/** SourceOf is the static side of a source of kind `R` through view `V` with the indexes `I`. */
export interface SourceOf<R extends Resource, V, I extends string> {
  readonly value: ViewOf<R, V>;
  readonly index: I;
}

/** SourceRef is how a read says which source is meant: by its kind, or by the name it was declared with. */
export type SourceRef<N extends string> = N | Resource<unknown, N>;

/** SourceListOptions narrows a list. */
export interface SourceListOptions<I extends string = string> extends ReadOptions {
  /** Look up by an index of the source: `{ by: { owner: 'default/a' } }`. One index at a time. Cannot be combined with the others. */
  readonly by?: { readonly [K in I]?: string } | undefined;
}

// A constraint without a name of its own: errors then list the declared kinds, and not how the list is computed.
/** CacheReads reads what the controller declared, from the cache: no request, own writes visible at once. Never change what it returns. */
export interface CacheReads<S> {
  /** get is one object, or undefined when there is none or the source's scope or view leaves it out. */
  get<N extends keyof S & string>(source: SourceRef<N>, key: ObjectKey): Value<S, N> | undefined;
  list<N extends keyof S & string>(
    source: SourceRef<N>,
    options?: SourceListOptions<Index<S, N>>,
  ): readonly Value<S, N>[];
}

type Value<S, N extends keyof S> = S[N] extends SourceType ? S[N]['value'] : never;
type Index<S, N extends keyof S> = S[N] extends SourceType ? S[N]['index'] : never;

/** SourceOptions says which objects of a kind are watched, and what is kept of them. */
export interface SourceOptions<T extends KubernetesObject, V extends View<T>, I extends string> {
  /**
   * What is kept of each object, and so the type of a read. Defaults to `full`. Do not keep the values of Secrets and
   * ConfigMaps: project to metadata and a hash.
   */
  readonly view?: V | undefined;
  /** Defaults to all namespaces. */
  readonly namespaces?: readonly string[] | undefined;
  /** A label selector in text form. Defaults to everything. */
  readonly labelSelector?: string | undefined;
  /** A field selector in text form. Defaults to everything. */
  readonly fieldSelector?: string | undefined;
  /**
   * Leave it out where the manager is limited to namespaces: there reads of it give nothing. For kinds that cannot be watched
   * without rights in the whole cluster. Defaults to false.
   */
  readonly clusterWideOnly?: boolean | undefined;
  /** Functions that give the index values of an object; see `list(…, { by })`. They must be pure. */
  readonly indexes?: { readonly [K in I]: (object: ViewOf<Resource<T>, V>) => readonly string[] } | undefined;
}

/** SecondaryOptions are those of a source besides the primary kind. */
export interface SecondaryOptions<T extends KubernetesObject, V extends View<T>, I extends string, N extends string>
  extends SourceOptions<T, V, I> {
  /** The name for reads, needed when the kind is declared more than once. Defaults to the kind. */
  readonly as?: N | undefined;
  /** All must pass for an event to cause work. Defaults to every event. */
  readonly when?: Predicate<ViewOf<Resource<T>, V>> | readonly Predicate<ViewOf<Resource<T>, V>>[] | undefined;
}

/** MapOptions are those of a watched source. `Key` is what a map function names: a primary's key, or any string. */
export interface MapOptions<T extends KubernetesObject, V extends View<T>, I extends string, N extends string, S, Key>
  extends SecondaryOptions<T, V, I, N> {
  /**
   * Which keys an object concerns. Called with the object before and after each change, so that what an object no
   * longer concerns is looked at too. Synchronous and quick; it may read the cache.
   */
  readonly map: (object: ViewOf<Resource<T>, V>, cache: CacheReads<S>) => Iterable<Key>;
}

/** KnownKind refuses a kind of which no id is known statically. Declaring one would declare them all: `Resource<Widget>` may be any. */
export type KnownKind<Id extends string> = string extends Id
  ? { readonly id: 'the type of the kind carries no id: make the kind with resource<Type>()({ … }) or defineResource' }
  : unknown;

/** NotYetDeclared refuses a second source of the same name, with words that say what to do. */
export type NotYetDeclared<S, N extends string> = string extends N
  ? unknown
  : N extends keyof S
    ? { readonly as: `${N} is declared already: give this one a name of its own with "as"` }
    : unknown;

/** KeepsMetadata refuses a view that drops the owner references that `owns` maps by. */
export type KeepsMetadata<R extends Resource, V> =
  ViewOf<R, V> extends { readonly metadata?: { readonly ownerReferences?: unknown } | undefined }
    ? V extends { readonly kind: 'trigger' }
      ? { readonly view: 'owns needs a view that keeps metadata.ownerReferences' }
      : unknown
    : { readonly view: 'owns needs a view that keeps metadata.ownerReferences' };

/**
 * Source is a declared source without its static types; the builder's methods are where the two are held together.
 */
export interface Source {
  readonly role: 'primary' | 'owns' | 'watches';
  readonly name: string;
  readonly resource: Resource;
  readonly view: View<never>;
  readonly namespaces: readonly string[] | undefined;
  readonly labelSelector: string | undefined;
  readonly fieldSelector: string | undefined;
  /** Left out where the manager is limited to namespaces. */
  readonly clusterWideOnly: boolean;
  /** True where that is so: nothing is watched, and reads give nothing. */
  readonly isLeftOut?: boolean | undefined;
  readonly indexes: Readonly<Record<string, (object: unknown) => readonly string[]>>;
  readonly when: Predicate<unknown>;
  /** For `watches` only. Gives keys in their string form. */
  readonly map: ((object: unknown, cache: CacheReads<SourceTypes>) => Iterable<string>) | undefined;
}
