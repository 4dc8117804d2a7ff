import type { LabelSelector, ObjectKey, ObjectMeta, Resource } from '@bowline/kubernetes';
import type { InformerHealth } from './health.ts';
import type { Scope } from './scope.ts';
import type { IndexFunction } from './store.ts';
import type { View } from './view.ts';

/** InformerEvent tells that an object appeared, changed or went. Read the informer for its state: it may be newer already. */
export interface InformerEvent<V> {
  readonly type: 'add' | 'update' | 'delete';
  readonly key: ObjectKey;
  /** The object after the change; absent for `delete`. */
  readonly current?: V;
  /** The object before the change; absent for `add`. */
  readonly previous?: V;
  /** Whether it comes from a list (at start, at a relist, or on subscribing) and not from a change just made: low priority. */
  readonly initial: boolean;
  /** The newest known metadata, as far as the view keeps it. */
  readonly metadata: ObjectMeta;
  /** The object was found missing at a relist, so `previous` and `metadata` may not be its last state. */
  readonly stale?: boolean;
}

/** InformerHandler receives events. It runs after the store has changed; what it throws is logged and counted. */
export type InformerHandler<V> = (event: InformerEvent<V>) => void;

/** ReadOptions narrows a list. */
export interface ReadOptions {
  /** Defaults to all namespaces of the informer. */
  readonly namespace?: string | undefined;
  /** A label selector in its text or object form. Defaults to everything. The `trigger` view keeps no labels. */
  readonly labelSelector?: string | LabelSelector | undefined;
}

/** Informer is a local, always current copy of the objects of one kind, seen through a view. What it returns is shared: never change it. */
export interface Informer<V> {
  readonly resource: Resource;
  readonly view: View<never>;
  /** Which objects of the kind it sees. */
  readonly scope: Scope;
  /** get reads one object; own writes are visible at once. */
  get(key: ObjectKey): V | undefined;
  list(options?: ReadOptions): readonly V[];
  /** addIndex makes `byIndex(name, …)` possible. The function must be pure. Adding the same name and function again does nothing. */
  addIndex(name: string, valuesOf: IndexFunction<V>): void;
  byIndex(name: string, value: string): readonly V[];
  /** subscribe calls the handler with an initial `add` for everything stored, before it returns, and with every change from then on. */
  subscribe(handler: InformerHandler<V>): Disposable;
  /** synced resolves once the first complete state is stored and handlers have seen it; rejects when the signal aborts or the cache stops. */
  synced(signal?: AbortSignal): Promise<void>;
  readonly hasSynced: boolean;
  health(): InformerHealth;
}
