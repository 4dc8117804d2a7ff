import type { Clock } from '../clock/clock.ts';

/** BoundedMapOptions limits a map. */
export interface BoundedMapOptions<K, V> {
  /** The maximum number of entries. */
  readonly maxEntries: number;
  /** The maximum total size of all entries, as measured by `sizeOf`. Defaults to no limit. */
  readonly maxSize?: number | undefined;
  /** sizeOf measures an entry. An entry larger than `maxSize` is not kept at all. Defaults to 1. */
  readonly sizeOf?: ((value: V, key: K) => number) | undefined;
  /** When entries expire. Defaults to never. */
  readonly expiry?: { readonly clock: Pick<Clock, 'monotonic'>; readonly afterMs: number } | undefined;
}

interface Entry<V> {
  readonly value: V;
  readonly size: number;
  readonly expiresAt: number;
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
  /** In eviction order: a Map iterates in insertion order. */
  readonly #entries = new Map<K, Entry<V>>();
  #totalSize = 0;

  constructor(options: BoundedMapOptions<K, V>) {
    this.#options = options;
  }

  /** The number of entries, including expired ones that have not been dropped yet. */
  get size(): number {
    return this.#entries.size;
  }

  /** has reports whether the map holds a key. It does not count as a use of the entry. */
  has(key: K): boolean {
    const entry = this.#entries.get(key);
    return entry !== undefined && !this.#isExpired(entry);
  }

  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || this.#isExpired(entry)) return undefined;
    if (this.#options.expiry === undefined) {
      this.#entries.delete(key);
      this.#entries.set(key, entry);
    }
    return entry.value;
  }

  set(key: K, value: V): void {
    const { maxEntries, maxSize = Number.POSITIVE_INFINITY, sizeOf, expiry } = this.#options;
    this.delete(key);
    this.dropExpired();
    const size = sizeOf ? sizeOf(value, key) : 1;
    if (size > maxSize || maxEntries < 1 || (expiry !== undefined && expiry.afterMs <= 0)) return;
    const expiresAt = expiry ? expiry.clock.monotonic() + expiry.afterMs : Number.POSITIVE_INFINITY;
    this.#entries.set(key, { value, size, expiresAt });
    this.#totalSize += size;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= maxEntries && this.#totalSize <= maxSize) break;
      this.delete(oldest);
    }
  }

  delete(key: K): boolean {
    this.#totalSize -= this.#entries.get(key)?.size ?? 0;
    return this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
    this.#totalSize = 0;
  }

  /**
   * dropExpired deletes the expired entries. It returns the instant (monotonic) at which the next entry expires, if
   * any.
   */
  dropExpired(): number | undefined {
    if (this.#options.expiry === undefined) return undefined;
    for (const [key, entry] of this.#entries) {
      if (!this.#isExpired(entry)) return entry.expiresAt;
      this.delete(key);
    }
    return undefined;
  }

  #isExpired({ expiresAt }: Entry<V>): boolean {
    const { expiry } = this.#options;
    return expiry !== undefined && expiresAt <= expiry.clock.monotonic();
  }
}
