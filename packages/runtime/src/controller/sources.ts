import type { KubernetesObject, ObjectKey, Resource } from '@bowline/kubernetes';
import type { ReadOptions } from '../cache/informer.ts';
import type { View, ViewOf } from '../cache/view.ts';
import type { Predicate } from './predicates.ts';

/** SourceType is what is statically known about a source: the type of a read, and the names of its indexes. */
export interface SourceType {
  readonly value: unknown;
  readonly index: string;
}

/** SourceTypes are the sources of a controller by name: the kind's id, or the name set with `as`. */
export interface SourceTypes {
  readonly [name: string]: SourceType;
}

/** SourceOf is the static type of a source of kind `R` through view `V` with the indexes `I`. */
export interface SourceOf<R extends Resource, V, I extends string> {
  readonly value: ViewOf<R, V>;
  readonly index: I;
}

/** SourceRef selects a source in a read: by its kind, or by the name it was declared with. */
export type SourceRef<N extends string> = N | Resource<unknown, N>;

/** SourceListOptions narrows a list. */
export interface SourceListOptions<I extends string = string> extends ReadOptions {
  /**
   * Look up by an index of the source: `{ by: { owner: 'default/a' } }`. One index at a time. Cannot be combined with
   * the other options.
   */
  readonly by?: { readonly [K in I]?: string } | undefined;
}

// An unnamed constraint: error messages then list the declared kinds, and not how the list is computed.
/**
 * CacheReads reads the declared sources of the controller from the cache: without requests, and with its own writes
 * visible immediately. Never change what it returns.
 */
export interface CacheReads<S> {
  /** get returns one object, or undefined when it does not exist or the source's scope or view excludes it. */
  get<N extends keyof S & string>(source: SourceRef<N>, key: ObjectKey): Value<S, N> | undefined;
  list<N extends keyof S & string>(
    source: SourceRef<N>,
    options?: SourceListOptions<Index<S, N>>,
  ): readonly Value<S, N>[];
  /**
   * isServed returns whether the API server serves the kind of a source at the moment, and so whether reads of it can
   * return anything. Declare the source as `optional`, otherwise the controller starts only when its kind is served.
   */
  isServed<N extends keyof S & string>(source: SourceRef<N>): boolean;
}

type Value<S, N extends keyof S> = S[N] extends SourceType ? S[N]['value'] : never;
type Index<S, N extends keyof S> = S[N] extends SourceType ? S[N]['index'] : never;

/** SourceOptions configures which objects of a kind are watched, and what is kept of them. */
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
   * Omit the source if the manager is limited to namespaces: reads of it then return nothing. For kinds that cannot be
   * watched without rights in the whole cluster. Defaults to false.
   */
  readonly clusterWideOnly?: boolean | undefined;
  /** Functions that return the index values of an object; see `list(…, { by })`. They must be pure. */
  readonly indexes?: { readonly [K in I]: (object: ViewOf<Resource<T>, V>) => readonly string[] } | undefined;
}

/** SecondaryOptions are the options of a source other than the primary kind. */
export interface SecondaryOptions<T extends KubernetesObject, V extends View<T>, I extends string, N extends string>
  extends SourceOptions<T, V, I> {
  /** The name for reads, required when the kind is declared more than once. Defaults to the kind. */
  readonly as?: N | undefined;
  /** All predicates must pass for an event to cause work. Defaults to every event. */
  readonly when?: Predicate<ViewOf<Resource<T>, V>> | readonly Predicate<ViewOf<Resource<T>, V>>[] | undefined;
  /**
   * Whether the controller works without the kind. While the API server does not serve it, reads return nothing and
   * `isServed` returns false; whenever that changes, all keys run. Defaults to false: the controller starts only when
   * the kind is served.
   */
  readonly optional?: boolean | undefined;
}

/**
 * MapOptions are the options of a watched source. `Key` is what a map function returns: a primary's key, or any string.
 */
export interface MapOptions<T extends KubernetesObject, V extends View<T>, I extends string, N extends string, S, Key>
  extends SecondaryOptions<T, V, I, N> {
  /**
   * Returns the keys that an object concerns. Called with the object before and after each change, so that keys that it
   * no longer concerns run too. Synchronous and quick; it may read the cache.
   */
  readonly map: (object: ViewOf<Resource<T>, V>, cache: CacheReads<S>) => Iterable<Key>;
}

/**
 * KnownKind rejects a kind whose id is not known statically. Declaring one would declare them all: `Resource<Widget>`
 * may be any kind.
 */
export type KnownKind<Id extends string> = string extends Id
  ? { readonly id: 'the type of the kind has no id: define the kind with resource<Type>()({ … }) or defineResource' }
  : unknown;

/** NotYetDeclared rejects a second source of the same name, with a message that explains what to do. */
export type NotYetDeclared<S, N extends string> = string extends N
  ? unknown
  : N extends keyof S
    ? { readonly as: `${N} is already declared: name this one with "as"` }
    : unknown;

/** KeepsMetadata rejects a view that drops the owner references, which `owns` needs for mapping. */
export type KeepsMetadata<R extends Resource, V> =
  ViewOf<R, V> extends { readonly metadata?: { readonly ownerReferences?: unknown } | undefined }
    ? V extends { readonly kind: 'trigger' }
      ? { readonly view: 'owns needs a view that keeps metadata.ownerReferences' }
      : unknown
    : { readonly view: 'owns needs a view that keeps metadata.ownerReferences' };

/** Source is a declared source without its static types; the builder's methods connect the two. */
export interface Source {
  readonly role: 'primary' | 'owns' | 'watches';
  readonly name: string;
  readonly resource: Resource;
  readonly view: View<never>;
  readonly namespaces: readonly string[] | undefined;
  readonly labelSelector: string | undefined;
  readonly fieldSelector: string | undefined;
  /** Whether the source is omitted if the manager is limited to namespaces. */
  readonly clusterWideOnly: boolean;
  /** True if that is the case: nothing is watched, and reads return nothing. */
  readonly isOmitted?: boolean | undefined;
  /** Whether the controller works while the kind is not served. Never true for the primary kind. */
  readonly optional?: boolean | undefined;
  readonly indexes: Readonly<Record<string, (object: unknown) => readonly string[]>>;
  readonly when: Predicate<unknown>;
  /** For `watches` only. Returns keys in their string form. */
  readonly map: ((object: unknown, cache: CacheReads<SourceTypes>) => Iterable<string>) | undefined;
}
