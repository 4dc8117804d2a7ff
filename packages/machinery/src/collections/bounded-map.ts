import type { Clock } from '../clock/clock.ts';

/** BoundedMapOptions limits a map. */
export interface BoundedMapOptions<K, V> {
  /** The maximum number of entries. */
  readonly maxEntries: number;
  /** The maximum total size of all entries, as measured by `sizeOf`. Defaults to no limit. */
  readonly maxSize?: number | undefined;
  /**
   * sizeOf measures an entry, and returns the same for the same entry at any time. An entry larger than `maxSize` is not
   * kept at all. Defaults to 1.
   */
  readonly sizeOf?: ((value: V, key: K) => number) | undefined;
  /** When entries expire. Defaults to never. */
  readonly expiry?: { readonly clock: Pick<Clock, 'monotonic'>; readonly afterMs: number } | undefined;
}

/**
 * BoundedMap is a map that never grows beyond its limits. The least recently used entry is evicted first. If entries
 * expire, the oldest one is evicted first, and reading an entry does not extend its lifetime.
 *
 * @example
 * const parsed = new BoundedMap<string, object>({ maxEntries: 1_000 });
 */
export class BoundedMap<K, V extends NonNullable<unknown>> {
  readonly #options: BoundedMapOptions<K, V>;
  /** In eviction order: a Map iterates in insertion order. The values themselves, because most maps have many small ones. */
  readonly #entries = new Map<K, V>();
  /** In the same order; only if entries expire. */
  readonly #expiresAt: Map<K, number> | undefined;
  #totalSize = 0;

  constructor(options: BoundedMapOptions<K, V>) {
    this.#options = options;
    if (options.expiry !== undefined) this.#expiresAt = new Map();
  }

  /** The number of entries, including expired ones that have not been dropped yet. */
  get size(): number {
    return this.#entries.size;
  }

  /** has reports whether the map holds a key. It does not count as a use of the entry. */
  has(key: K): boolean {
    return this.#entries.has(key) && !this.#isExpired(key);
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined || this.#isExpired(key)) return undefined;
    if (this.#options.expiry === undefined) {
      this.#entries.delete(key);
      this.#entries.set(key, value);
    }
    return value;
  }

  set(key: K, value: V): void {
    const { maxEntries, maxSize = Number.POSITIVE_INFINITY, expiry } = this.#options;
    this.delete(key);
    this.dropExpired();
    const size = this.#sizeOf(key, value);
    if (size > maxSize || maxEntries < 1 || (expiry !== undefined && expiry.afterMs <= 0)) return;
    this.#entries.set(key, value);
    if (expiry) this.#expiresAt?.set(key, expiry.clock.monotonic() + expiry.afterMs);
    this.#totalSize += size;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= maxEntries && this.#totalSize <= maxSize) break;
      this.delete(oldest);
    }
  }

  delete(key: K): boolean {
    const value = this.#entries.get(key);
    if (value === undefined) return false;
    this.#totalSize -= this.#sizeOf(key, value);
    this.#expiresAt?.delete(key);
    return this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
    this.#expiresAt?.clear();
    this.#totalSize = 0;
  }

  /**
   * dropExpired deletes the expired entries. It returns the instant (monotonic) at which the next entry expires, if
   * any.
   */
  dropExpired(): number | undefined {
    for (const [key, expiresAt] of this.#expiresAt ?? []) {
      if (!this.#isExpired(key)) return expiresAt;
      this.delete(key);
    }
    return undefined;
  }

  #sizeOf(key: K, value: V): number {
    return this.#options.sizeOf?.(value, key) ?? 1;
  }

  #isExpired(key: K): boolean {
    const { expiry } = this.#options;
    return expiry !== undefined && (this.#expiresAt?.get(key) ?? 0) <= expiry.clock.monotonic();
  }
}
