import type { KubernetesObject } from '@bowline/kubernetes';
import type { Clock } from '@bowline/machinery';
import { Collection, type Selection } from './collection.ts';
import { type Change, History, type HistoryLimits } from './history.ts';
import { isSameExceptRevision, type Stored, storedFrom } from './stored.ts';

/** Journal makes writes survive the process. */
export interface Journal {
  /** record returns when the write would survive the end of the process. */
  record(change: Change): void;
}

/** StorageOptions configures the storage. */
export interface StorageOptions {
  readonly clock: Clock;
  /** Where writes are stored. Defaults to memory only. */
  readonly journal?: Journal | undefined;
  readonly history?: HistoryLimits | undefined;
  /** The objects that were stored before. Defaults to none. */
  readonly restored?:
    | { readonly revision: number; readonly objects: Iterable<readonly [collection: string, Stored]> }
    | undefined;
}

/**
 * FIRST_REVISION is the revision of the empty store, as in etcd. No object ever has it: clients use it to require that
 * an object does not exist.
 */
const FIRST_REVISION = 1;

/**
 * Storage holds all objects under one revision counter, which orders all writes. Writers specify the revision that they
 * replace, so that no change is overwritten unseen; a write without changes is dropped.
 */
export class Storage {
  readonly #collections = new Map<string, Collection>();
  readonly #watchers = new Map<string, Set<(change: Change) => void>>();
  readonly #history: History;
  readonly #journal: Journal | undefined;
  #revision: number;

  constructor(options: StorageOptions) {
    const { clock, restored } = options;
    this.#revision = restored?.revision ?? FIRST_REVISION;
    for (const [collection, stored] of restored?.objects ?? []) this.#in(collection).put(stored);
    this.#history = new History(clock, this.#revision, options.history);
    this.#journal = options.journal;
  }

  /** The revision of the latest write. */
  get revision(): number {
    return this.#revision;
  }

  /** The oldest revision from which a watch may start. */
  get oldestRevision(): number {
    return this.#history.compactedRevision;
  }

  /** size returns the number of objects in a collection. */
  size(collection: string): number {
    return this.#in(collection).size;
  }

  get(collection: string, key: string): Stored | undefined {
    return this.#in(collection).get(key);
  }

  /**
   * select returns the objects of a collection in order, in their current state or at an earlier revision that is still
   * kept.
   */
  select(collection: string, selection: Selection = {}, at = this.#revision): Iterable<Stored> {
    return (at >= this.#revision ? this.#in(collection) : this.#past(collection, at)).select(selection);
  }

  /** create stores a new object; it returns undefined if the object exists. */
  create(collection: string, key: string, object: KubernetesObject): Stored | undefined {
    if (this.get(collection, key)) return undefined;
    const current = storedFrom(key, this.#revision + 1, object);
    this.#commit({ revision: current.revision, collection, key, previous: undefined, current, last: undefined });
    return current;
  }

  /** update replaces the state at a revision; it returns undefined if the object has another state or is gone. */
  update(collection: string, key: string, revision: number, object: KubernetesObject): Stored | undefined {
    const previous = this.get(collection, key);
    if (previous?.revision !== revision) return undefined;
    const current = storedFrom(key, this.#revision + 1, object);
    if (isSameExceptRevision(current, previous)) return previous;
    this.#commit({ revision: current.revision, collection, key, previous, current, last: undefined });
    return current;
  }

  /**
   * remove deletes the state at a revision and returns the last state; undefined if the object has another state or is
   * gone.
   */
  remove(collection: string, key: string, revision: number, object: KubernetesObject): Stored | undefined {
    const previous = this.get(collection, key);
    if (previous?.revision !== revision) return undefined;
    const last = storedFrom(key, this.#revision + 1, object);
    this.#commit({ revision: last.revision, collection, key, previous, current: undefined, last });
    return last;
  }

  /** changesSince returns the kept changes of a collection after a revision. */
  *changesSince(collection: string, revision: number): Generator<Change> {
    for (const change of this.#history.since(revision)) if (change.collection === collection) yield change;
  }

  /**
   * watch calls `listener` with every later change of a collection, in order and before the writer receives its response.
   */
  watch(collection: string, listener: (change: Change) => void): Disposable {
    const watchers = this.#watchers.get(collection) ?? new Set();
    this.#watchers.set(collection, watchers);
    watchers.add(listener);
    return { [Symbol.dispose]: () => watchers.delete(listener) };
  }

  /** compactHistory makes every revision except the newest too old to start a watch. */
  compactHistory(): void {
    this.#history.compact();
  }

  #commit(change: Change): void {
    // The journal comes first: a write that cannot be stored did not happen.
    this.#journal?.record(change);
    this.#revision = change.revision;
    const objects = this.#in(change.collection);
    if (change.current) objects.put(change.current);
    else objects.remove(change.key);
    this.#history.add(change);
    for (const listener of this.#watchers.get(change.collection) ?? []) listener(change);
  }

  #past(collection: string, at: number): Collection {
    const past = this.#in(collection).copy();
    for (const { key, previous } of [...this.changesSince(collection, at)].reverse()) {
      if (previous) past.put(previous);
      else past.remove(key);
    }
    return past;
  }

  #in(collection: string): Collection {
    let objects = this.#collections.get(collection);
    if (!objects) {
      objects = new Collection();
      this.#collections.set(collection, objects);
    }
    return objects;
  }
}
