import type { LabelSelector, ObjectKey, ObjectMeta, Resource } from '@bowline/kubernetes';
import type { InformerHealth } from './health.ts';
import type { Scope } from './scope.ts';
import type { IndexFunction } from './store.ts';
import type { View } from './view.ts';

/**
 * InformerEvent reports that an object was added, changed or deleted. Read the informer for the object's state, which
 * may be newer already.
 */
export interface InformerEvent<V> {
  readonly type: 'add' | 'update' | 'delete';
  readonly key: ObjectKey;
  /** The object after the change; absent for `delete`. */
  readonly current?: V;
  /** The object before the change; absent for `add`. */
  readonly previous?: V;
  /**
   * Whether the event comes from a list (at start, at a relist, or on subscribing) and not from a recent change; such
   * events have low priority.
   */
  readonly initial: boolean;
  /** The newest known metadata, as far as the view keeps metadata. */
  readonly metadata: ObjectMeta;
  /** The object was found missing at a relist, so `previous` and `metadata` may not be its last state. */
  readonly stale?: boolean;
}

/** InformerHandler receives events. It runs after the store has changed; errors it throws are logged and counted. */
export type InformerHandler<V> = (event: InformerEvent<V>) => void;

/** ReadOptions filters a list. */
export interface ReadOptions {
  /** Defaults to all namespaces of the informer. */
  readonly namespace?: string | undefined;
  /** A label selector in string or object form. Defaults to everything. The `trigger` view keeps no labels. */
  readonly labelSelector?: string | LabelSelector | undefined;
}

/**
 * Informer is a local, continuously updated copy of the objects of one kind, seen through a view. Returned objects are
 * shared: never modify them.
 */
export interface Informer<V> {
  readonly resource: Resource;
  readonly view: View<never>;
  /** The objects of the kind that it covers. */
  readonly scope: Scope;
  /** get returns one object; own writes are visible immediately. */
  get(key: ObjectKey): V | undefined;
  list(options?: ReadOptions): readonly V[];
  /**
   * addIndex enables `byIndex(name, …)`. The function must be pure. Adding the same name and function again has no
   * effect.
   */
  addIndex(name: string, valuesOf: IndexFunction<V>): void;
  byIndex(name: string, value: string): readonly V[];
  /**
   * subscribe calls the handler with an initial `add` for every stored object before it returns, and with every change
   * from then on.
   */
  subscribe(handler: InformerHandler<V>): Disposable;
  /**
   * synced resolves once the first complete state is stored and handlers have seen it. It rejects when the signal
   * aborts or the cache stops.
   */
  synced(signal?: AbortSignal): Promise<void>;
  readonly hasSynced: boolean;
  /**
   * Whether the server serves the kind: true as soon as the first complete state is stored, false while the server
   * responds that it does not know the kind, undefined as long as neither is known.
   */
  readonly isServed: boolean | undefined;
  /**
   * settled resolves once it is known whether the kind is served, and if so, the first complete state is stored. It
   * rejects when the signal aborts or the cache stops.
   */
  settled(signal?: AbortSignal): Promise<void>;
  /**
   * onServedChange calls the handler when the kind becomes served, after the events of its objects, and when it is no
   * longer served, after the events of their deletion.
   */
  onServedChange(handler: (isServed: boolean) => void): Disposable;
  health(): InformerHealth;
}
