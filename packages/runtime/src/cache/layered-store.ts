import { keyString, type ObjectKey, type ObjectMeta } from '@bowline/kubernetes';
import type { Clock } from '@bowline/machinery';
import { isOlder, newerOf, reaches } from './resource-versions.ts';
import { Store } from './store.ts';

/** An own write that the stream has not passed after this time will never appear in it. */
const MAX_UNCONFIRMED_MS = 300_000;
const MAX_UNCONFIRMED = 10_000;

/** Change describes what happened to a key in the stream's state, without own writes. */
export interface Change<E> {
  readonly key: ObjectKey;
  readonly previous: E | undefined;
  readonly current: E | undefined;
}

/** OwnWrite is a write of this process, to be visible before the stream delivers it. */
export interface OwnWrite<E> {
  readonly key: ObjectKey;
  readonly uid: string | undefined;
  /** The entry to show; undefined if the write moved the object out of the informer's scope. */
  readonly entry: E | undefined;
  readonly version: string | undefined;
  /**
   * The version the stream has reached. A write that it has passed is not visible, because an object deleted since
   * would reappear.
   */
  readonly streamVersion: string | undefined;
}

/**
 * OwnDelete is a deletion by this process. Its response carries no version, so it ends with the event that delivers it.
 */
export interface OwnDelete {
  readonly key: ObjectKey;
  readonly uid: string;
  /** The newest known version of the deleted object. */
  readonly version: string | undefined;
  readonly streamVersion: string | undefined;
}

interface Unconfirmed<E> {
  readonly key: ObjectKey;
  readonly uid: string | undefined;
  readonly deletion: boolean;
  readonly entry: E | undefined;
  /** For a write its version; for a deletion the newest known version of the deleted object. */
  readonly version: string | undefined;
  readonly recordedAt: number;
  /** For a deletion, a version by which it has certainly happened. */
  happenedBy: string | undefined;
  /** The stream's last entry for the key. */
  base: E | undefined;
}

/**
 * LayeredStore is a store with two layers: the state delivered by the stream, and above it own writes until the stream
 * has passed them. Readers and indexes see both as one; events are derived from the lower layer alone.
 */
export class LayeredStore<E> {
  /** The entries visible to readers. */
  readonly visible = new Store<E>();
  readonly #metadata: (entry: E) => ObjectMeta;
  readonly #wire: Clock;
  readonly #unconfirmed = new Map<string, Unconfirmed<E>>();

  constructor(metadata: (entry: E) => ObjectMeta, wire: Clock) {
    this.#metadata = metadata;
    this.#wire = wire;
  }

  /** unconfirmed returns the number of own writes that the stream has not passed. */
  get unconfirmed(): number {
    return this.#unconfirmed.size;
  }

  /** observed returns the stream's last entry for a key. */
  observed(key: ObjectKey): E | undefined {
    const pending = this.#pending(key);
    return pending ? pending.base : this.visible.get(key);
  }

  /** ownWrite returns the entry of an own write that the stream has not passed, if it has the version in `metadata`. */
  ownWrite(key: ObjectKey, { uid, resourceVersion }: ObjectMeta): E | undefined {
    const pending = this.#pending(key);
    if (!pending || pending.deletion) return undefined;
    return pending.uid === uid && pending.version === resourceVersion ? pending.entry : undefined;
  }

  /** observedIn yields all entries delivered by the stream, in one namespace or in all. */
  *observedIn(namespace: string | undefined): Generator<[ObjectKey, E]> {
    for (const pair of this.visible.entries(namespace)) {
      if (!this.#pending(pair[0])) yield pair;
    }
    for (const { key, base } of this.#unconfirmed.values()) {
      if (base !== undefined && isIn(key, namespace)) yield [key, base];
    }
  }

  /**
   * observe stores an object, or its absence, from the stream and returns the resulting change. With `rewound` it also
   * accepts an older version than the stored one.
   */
  observe(key: ObjectKey, entry: E | undefined, metadata: ObjectMeta, rewound = false): Change<E> | undefined {
    const pending = this.#pending(key);
    const previous = pending ? pending.base : this.visible.get(key);
    const known = previous === undefined ? undefined : this.#metadata(previous);
    if (known && !rewound && isOlder(metadata.resourceVersion, known.resourceVersion)) return undefined;
    const same = known && known.uid === metadata.uid && known.resourceVersion === metadata.resourceVersion;
    if (same && entry !== undefined) return undefined;
    if (pending) {
      pending.base = entry;
      if (confirms(pending, entry !== undefined, metadata)) this.#confirm(pending);
      else this.#show(pending);
    } else {
      this.#put(key, entry);
    }
    return previous === undefined && entry === undefined ? undefined : { key, previous, current: entry };
  }

  /**
   * adopt takes over a first complete state as it is. It returns false if there is anything the state has to be
   * compared with.
   */
  adopt(state: Store<E>): boolean {
    return this.#unconfirmed.size === 0 && this.visible.adopt(state);
  }

  /** advance records how far the stream of a namespace has come and drops the own writes up to there. */
  advance(namespace: string | undefined, version: string | undefined): void {
    if (this.#unconfirmed.size === 0) return;
    const oldest = this.#wire.monotonic() - MAX_UNCONFIRMED_MS;
    for (const pending of this.#unconfirmed.values()) {
      if (!isIn(pending.key, namespace)) continue;
      if (isPassed(pending, version) || pending.recordedAt < oldest) this.#confirm(pending);
    }
  }

  /** forgetWrites drops the own writes of a namespace, because the history they belong to is gone. */
  forgetWrites(namespace: string | undefined): void {
    for (const pending of this.#unconfirmed.values()) {
      if (isIn(pending.key, namespace)) this.#confirm(pending);
    }
  }

  /**
   * recordNewest records that the newest state of the server was at `newest` at some time after `since`. Own writes
   * confirmed before then and newer than that are lost (a restored etcd); deletions confirmed before then are part of
   * that state, or lost as well.
   */
  recordNewest(namespace: string | undefined, newest: string, since: number): void {
    for (const pending of this.#unconfirmed.values()) {
      if (pending.recordedAt >= since || !isIn(pending.key, namespace)) continue;
      if (isOlder(newest, pending.version)) this.#confirm(pending);
      else if (pending.deletion) pending.happenedBy ??= newest;
    }
  }

  /**
   * recordWrite makes an own write visible immediately. A write whose version cannot be compared cannot be layered and
   * is ignored.
   */
  recordWrite({ key, uid, entry, version, streamVersion }: OwnWrite<E>): void {
    if (!reaches(version, version) || reaches(streamVersion, version)) return;
    const known = this.#pending(key);
    if (known && (reaches(known.version, version) || (known.deletion && known.uid === uid))) return;
    const visible = this.visible.get(key);
    if (visible !== undefined && reaches(this.#metadata(visible).resourceVersion, version)) return;
    this.#record({ key, uid, deletion: false, entry, version, base: known ? known.base : visible });
  }

  /** recordDelete hides an object that this process has deleted. */
  recordDelete({ key, uid, version, streamVersion }: OwnDelete): void {
    const known = this.#pending(key);
    const visible = this.visible.get(key);
    const metadata = visible === undefined ? undefined : this.#metadata(visible);
    if (known?.deletion && (known.uid === uid || !isOlder(known.version, version))) return;
    // Another object of that name is hidden only if it is certainly a predecessor.
    if (metadata && metadata.uid !== uid && !isOlder(metadata.resourceVersion, version)) return;
    // Nothing is visible and nothing indicates that the stream has yet to deliver the object: it is out of scope, or
    // its deletion has been seen already.
    if (!metadata && !known && (version === undefined || reaches(streamVersion, version))) return;
    const newest = newerOf(version, metadata?.resourceVersion);
    this.#record({ key, uid, deletion: true, entry: undefined, version: newest, base: known ? known.base : visible });
  }

  #record(write: Omit<Unconfirmed<E>, 'recordedAt' | 'happenedBy'>): void {
    const text = keyString(write.key);
    const pending: Unconfirmed<E> = { ...write, recordedAt: this.#wire.monotonic(), happenedBy: undefined };
    // Delete first, so that the map stays in recording order.
    this.#unconfirmed.delete(text);
    this.#unconfirmed.set(text, pending);
    this.#show(pending);
    if (this.#unconfirmed.size <= MAX_UNCONFIRMED) return;
    const [oldest] = this.#unconfirmed.values();
    if (oldest) this.#confirm(oldest);
  }

  #pending(key: ObjectKey): Unconfirmed<E> | undefined {
    return this.#unconfirmed.size === 0 ? undefined : this.#unconfirmed.get(keyString(key));
  }

  #confirm(pending: Unconfirmed<E>): void {
    this.#unconfirmed.delete(keyString(pending.key));
    this.#put(pending.key, pending.base);
  }

  #show(pending: Unconfirmed<E>): void {
    if (!pending.deletion) this.#put(pending.key, pending.entry);
    else this.#put(pending.key, this.#isHidden(pending) ? undefined : pending.base);
  }

  /** A deletion hides the object itself and every predecessor of the same name that the stream still delivers. */
  #isHidden(deletion: Unconfirmed<E>): boolean {
    if (deletion.base === undefined) return true;
    const metadata = this.#metadata(deletion.base);
    return metadata.uid === deletion.uid || reaches(deletion.version, metadata.resourceVersion);
  }

  #put(key: ObjectKey, entry: E | undefined): void {
    if (entry === undefined) this.visible.delete(key);
    else if (this.visible.get(key) !== entry) this.visible.set(key, entry);
  }
}

/** isPassed returns whether a stream that has reached `version` has nothing more to deliver about an own write. */
function isPassed(pending: Unconfirmed<unknown>, version: string | undefined): boolean {
  if (!pending.deletion) return reaches(version, pending.version);
  // Without the object in the stream there is nothing to hide; with it, its deletion should have arrived by now.
  return reaches(version, pending.base === undefined ? pending.version : pending.happenedBy);
}

/** confirms returns whether the stream's state of a key is at or past an own write to it. */
function confirms(pending: Unconfirmed<unknown>, exists: boolean, metadata: ObjectMeta): boolean {
  if (!pending.deletion) return reaches(metadata.resourceVersion, pending.version);
  if (metadata.uid === pending.uid) return !exists;
  // Another object of that name is a successor if it is newer than the deleted one, and then the deletion is confirmed.
  return isOlder(pending.version, metadata.resourceVersion);
}

function isIn(key: ObjectKey, namespace: string | undefined): boolean {
  return namespace === undefined || key.namespace === namespace;
}
