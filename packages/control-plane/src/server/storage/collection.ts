import { SortedKeys } from './sorted-keys.ts';
import type { Stored } from './stored.ts';

/** Selection selects a part of a collection. */
export interface Selection {
  /** Only this namespace. Defaults to all. */
  readonly namespace?: string | undefined;
  /** Start after this key. Defaults to the beginning. */
  readonly after?: string | undefined;
}

/** Collection holds the current state of every object of one resource. */
export class Collection {
  readonly #objects = new Map<string, Stored>();
  readonly #keys = new SortedKeys();

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): Stored | undefined {
    return this.#objects.get(key);
  }

  put(stored: Stored): void {
    if (!this.#objects.has(stored.key)) this.#keys.add(stored.key);
    this.#objects.set(stored.key, stored);
  }

  remove(key: string): void {
    if (this.#objects.delete(key)) this.#keys.remove(key);
  }

  /** select returns objects sorted by key. */
  *select({ namespace, after }: Selection = {}): Generator<Stored> {
    const prefix = namespace === undefined ? '' : `${namespace}/`;
    // The smallest key that can follow another one is that key with the smallest character appended.
    for (const key of this.#keys.from(prefix, after === undefined ? prefix : `${after}\u0000`)) {
      const stored = this.#objects.get(key);
      if (stored) yield stored;
    }
  }

  /** copy returns a collection with the same content. */
  copy(): Collection {
    const copy = new Collection();
    for (const stored of this.select()) copy.put(stored);
    return copy;
  }
}
