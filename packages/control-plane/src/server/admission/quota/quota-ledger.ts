import type { ResourceQuota } from '@bowline/kubernetes';
import { canonicalJson, parseQuantity, type Quantity } from '@bowline/machinery';
import { type Amounts, addAmounts } from '../../objects/pod-amounts.ts';
import type { Change } from '../../storage/history.ts';
import type { Storage } from '../../storage/storage.ts';
import { objectOf, type Stored, splitKey } from '../../storage/stored.ts';
import { inScope, scopesOf } from './scopes.ts';
import { collectionCountedBy, usageOf, VARIABLE_USAGE_COLLECTIONS } from './usage.ts';

/** QUOTAS is the collection that stores quotas. */
export const QUOTAS = 'resourcequotas';

const ZERO: Quantity = { nanos: 0n, format: 'DecimalSI' };

/** Account is a quota together with its usage. */
export interface Account {
  /** The storage key of the quota. */
  readonly key: string;
  readonly name: string;
  /** The limits of the quota on resources that can be counted. */
  readonly limits: Amounts;
  /** The usage of every limited resource. */
  readonly used: Amounts;
  /** matches reports whether the quota limits an object of a collection. */
  matches(collection: string, object: object): boolean;
}

interface OpenAccount extends Account {
  readonly used: Map<string, Quantity>;
  readonly spec: string;
  readonly collections: ReadonlySet<string>;
}

/**
 * QuotaLedger holds the current usage of every quota. Storage notifies it of a write synchronously, so a caller that
 * reads the ledger and writes without awaiting in between cannot race with another writer.
 */
export class QuotaLedger implements Disposable {
  readonly #storage: Storage;
  readonly #accounts = new Map<string, Map<string, OpenAccount>>();
  readonly #followed = new Map<string, { readonly watch: Disposable; count: number }>();
  readonly #listeners = new Set<(key: string) => void>();
  readonly #watch: Disposable;

  constructor(storage: Storage) {
    this.#storage = storage;
    for (const stored of storage.select(QUOTAS)) this.#open(stored);
    this.#watch = storage.watch(QUOTAS, ({ key, current }) => {
      if (current) this.#open(current);
      else this.#close(key);
      this.#notify(key);
    });
  }

  /** accountsIn returns the quotas of a namespace, sorted by name. */
  accountsIn(namespace: string): readonly Account[] {
    const accounts = this.#accounts.get(namespace);
    return accounts ? [...accounts.values()].sort((a, b) => (a.name < b.name ? -1 : 1)) : [];
  }

  /** account returns the account of a stored quota. */
  account(key: string): Account | undefined {
    return this.#accounts.get(splitKey(key).namespace)?.get(key);
  }

  /** keys returns the storage keys of all quotas. */
  keys(): string[] {
    return [...this.#accounts.values()].flatMap((accounts) => [...accounts.keys()]);
  }

  /** onChange calls `notify` with the storage key of a quota that was written or whose usage changed. */
  onChange(notify: (key: string) => void): Disposable {
    this.#listeners.add(notify);
    return { [Symbol.dispose]: () => this.#listeners.delete(notify) };
  }

  [Symbol.dispose](): void {
    this.#watch[Symbol.dispose]();
    for (const { watch } of this.#followed.values()) watch[Symbol.dispose]();
    this.#followed.clear();
    this.#accounts.clear();
  }

  #open(stored: Stored): void {
    const { key } = stored;
    const { spec = {} } = objectOf(stored) as ResourceQuota;
    const text = canonicalJson(spec);
    const { namespace, name } = splitKey(key);
    const accounts = this.#accounts.get(namespace) ?? new Map<string, OpenAccount>();
    if (accounts.get(key)?.spec === text) return;
    this.#close(key);
    this.#accounts.set(namespace, accounts);
    const limits = new Map<string, Quantity>();
    const collections = new Set<string>();
    for (const [resource, amount] of Object.entries(spec.hard ?? {})) {
      const collection = collectionCountedBy(resource);
      if (collection === undefined) continue;
      collections.add(collection);
      limits.set(resource, parseQuantity(amount));
    }
    const scopes = scopesOf(spec);
    const account: OpenAccount = {
      key,
      name,
      limits,
      used: new Map([...limits.keys()].map((resource) => [resource, ZERO])),
      matches: (collection, object) => inScope(scopes, collection, object),
      spec: text,
      collections,
    };
    accounts.set(key, account);
    for (const collection of collections) {
      this.#follow(collection);
      for (const each of this.#storage.select(collection, { namespace })) book(account, collection, each, 1n);
    }
  }

  #close(key: string): void {
    const { namespace } = splitKey(key);
    const accounts = this.#accounts.get(namespace);
    const account = accounts?.get(key);
    if (!accounts || !account) return;
    accounts.delete(key);
    if (accounts.size === 0) this.#accounts.delete(namespace);
    for (const collection of account.collections) this.#leave(collection);
  }

  #follow(collection: string): void {
    const followed = this.#followed.get(collection);
    if (followed) followed.count++;
    else {
      const watch = this.#storage.watch(collection, (change) => this.#book(change));
      this.#followed.set(collection, { watch, count: 1 });
    }
  }

  #leave(collection: string): void {
    const followed = this.#followed.get(collection);
    if (!followed || --followed.count > 0) return;
    followed.watch[Symbol.dispose]();
    this.#followed.delete(collection);
  }

  #book({ collection, key, previous, current }: Change): void {
    for (const account of this.#accounts.get(splitKey(key).namespace)?.values() ?? []) {
      if (!account.collections.has(collection)) continue;
      // Most changes do not affect what an object counts for.
      if (previous && current && !VARIABLE_USAGE_COLLECTIONS.has(collection)) continue;
      if (previous) book(account, collection, previous, -1n);
      if (current) book(account, collection, current, 1n);
      this.#notify(account.key);
    }
  }

  #notify(key: string): void {
    for (const notify of this.#listeners) notify(key);
  }
}

/** book adds the usage of a stored object to an account, or subtracts it. */
function book(account: OpenAccount, collection: string, stored: Stored, sign: 1n | -1n): void {
  const object = VARIABLE_USAGE_COLLECTIONS.has(collection) ? objectOf(stored) : {};
  if (!account.matches(collection, object)) return;
  const counted = new Map<string, Quantity>();
  for (const [name, { nanos, format }] of usageOf(collection, object)) {
    if (account.limits.has(name)) counted.set(name, { nanos: nanos * sign, format });
  }
  addAmounts(account.used, counted);
}
