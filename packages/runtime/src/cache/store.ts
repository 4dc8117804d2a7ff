import type { ObjectKey } from '@bowline/kubernetes';

/**
 * IndexFunction returns the index values of an entry. It must be pure, because it is also used to find what to remove.
 */
export type IndexFunction<V> = (value: V) => readonly string[];

interface Index<E> {
  readonly valuesOf: (entry: E) => readonly string[];
  readonly buckets: Map<string, Set<E>>;
}

/** NO_NAMESPACE is the namespace key of cluster-scoped objects. */
const NO_NAMESPACE = '';

/**
 * Store maps keys to entries, with a built-in index by namespace and any number of other indexes. Keys are not copied:
 * the two levels are keyed by strings that the entries already hold.
 */
export class Store<E> {
  #namespaces = new Map<string, Map<string, E>>();
  readonly #indexes = new Map<string, Index<E>>();
  #size = 0;

  /** size is the number of entries. */
  get size(): number {
    return this.#size;
  }

  get(key: ObjectKey): E | undefined {
    return this.#namespaces.get(key.namespace ?? NO_NAMESPACE)?.get(key.name);
  }

  /** set stores an entry and returns the one it replaced. */
  set(key: ObjectKey, entry: E): E | undefined {
    const namespace = key.namespace ?? NO_NAMESPACE;
    let names = this.#namespaces.get(namespace);
    if (!names) {
      names = new Map();
      this.#namespaces.set(namespace, names);
    }
    const previous = names.get(key.name);
    names.set(key.name, entry);
    if (previous === undefined) this.#size++;
    for (const index of this.#indexes.values()) {
      if (previous !== undefined) unlink(index, previous);
      link(index, entry);
    }
    return previous;
  }

  /** delete removes an entry and returns it. */
  delete(key: ObjectKey): E | undefined {
    const namespace = key.namespace ?? NO_NAMESPACE;
    const names = this.#namespaces.get(namespace);
    const previous = names?.get(key.name);
    if (!names || previous === undefined) return undefined;
    names.delete(key.name);
    if (names.size === 0) this.#namespaces.delete(namespace);
    this.#size--;
    for (const index of this.#indexes.values()) unlink(index, previous);
    return previous;
  }

  /**
   * adopt takes over the content of another store and empties that store. It returns false unless this store is empty.
   */
  adopt(other: Store<E>): boolean {
    if (this.#size > 0) return false;
    this.#namespaces = other.#namespaces;
    this.#size = other.#size;
    other.#namespaces = new Map();
    other.#size = 0;
    for (const index of this.#indexes.values()) {
      for (const entry of this.values()) link(index, entry);
    }
    return true;
  }

  /** entries yields the keys and entries of one namespace, or of all. */
  *entries(namespace?: string): Generator<[ObjectKey, E]> {
    if (namespace !== undefined) {
      for (const [name, entry] of this.#namespaces.get(namespace) ?? []) yield [keyFrom(namespace, name), entry];
      return;
    }
    for (const [each, names] of this.#namespaces) {
      for (const [name, entry] of names) yield [keyFrom(each, name), entry];
    }
  }

  /** values yields the entries of one namespace, or of all, without creating keys. */
  *values(namespace?: string): Generator<E> {
    if (namespace !== undefined) {
      yield* this.#namespaces.get(namespace)?.values() ?? [];
      return;
    }
    for (const names of this.#namespaces.values()) yield* names.values();
  }

  /** addIndex builds an index over the stored entries and keeps it up to date. */
  addIndex(name: string, valuesOf: (entry: E) => readonly string[]): void {
    const index: Index<E> = { valuesOf, buckets: new Map() };
    for (const entry of this.values()) link(index, entry);
    this.#indexes.set(name, index);
  }

  /** byIndex returns the entries under an index value, or undefined if the index does not exist. */
  byIndex(name: string, value: string): Iterable<E> | undefined {
    const index = this.#indexes.get(name);
    return index && (index.buckets.get(value) ?? []);
  }
}

function keyFrom(namespace: string, name: string): ObjectKey {
  return namespace === NO_NAMESPACE ? { name } : { namespace, name };
}

function link<E>(index: Index<E>, entry: E): void {
  for (const value of index.valuesOf(entry)) {
    const bucket = index.buckets.get(value);
    if (bucket) bucket.add(entry);
    else index.buckets.set(value, new Set([entry]));
  }
}

function unlink<E>(index: Index<E>, entry: E): void {
  for (const value of index.valuesOf(entry)) {
    const bucket = index.buckets.get(value);
    if (!bucket?.delete(entry)) continue;
    if (bucket.size === 0) index.buckets.delete(value);
  }
}
