import { keyString, type ObjectKey, type ObjectMeta } from '@bowline/kubernetes';
import type { Clock } from '@bowline/machinery';
import { isOlder, newerOf, reaches } from './resource-versions.ts';
import { Store } from './store.ts';

/** An own write that the stream has not passed by then is one it will never show. */
const LONGEST_UNCONFIRMED_MS = 300_000;
const MOST_UNCONFIRMED = 10_000;

/** Change is what happened to a key in the stream's state, own writes apart. */
export interface Change<E> {
  readonly key: ObjectKey;
  readonly previous: E | undefined;
  readonly current: E | undefined;
}

/** OwnWrite is a write of this process, to be shown before the stream shows it. */
export interface OwnWrite<E> {
  readonly key: ObjectKey;
  readonly uid: string | undefined;
  /** What to show; undefined when the write took the object out of the informer's scope. */
  readonly entry: E | undefined;
  readonly version: string | undefined;
  /** Where the stream stands: a write it has passed is not shown, or an object deleted since would come back. */
  readonly streamVersion: string | undefined;
}

/** OwnDelete is a deletion by this process. Its answer carries no version, so it ends with the event that shows it. */
export interface OwnDelete {
  readonly key: ObjectKey;
  readonly uid: string;
  /** The newest version known of the deleted object. */
  readonly version: string | undefined;
  readonly streamVersion: string | undefined;
}

interface Unconfirmed<E> {
  readonly key: ObjectKey;
  readonly uid: string | undefined;
  readonly deletion: boolean;
  readonly entry: E | undefined;
  /** For a write its version; for a deletion the newest version known of what was deleted. */
  readonly version: string | undefined;
  readonly recordedAt: number;
  /** For a deletion, a version by which it has certainly happened. */
  happenedBy: string | undefined;
  /** What the stream last showed of the key. */
  base: E | undefined;
}

/**
 * LayeredStore is a store with two layers: what the stream has shown, and own writes above it until the stream passes
 * them. Readers and indexes see both as one; events are made of the lower layer alone.
 */
export class LayeredStore<E> {
  /** What readers see. */
  readonly visible = new Store<E>();
  readonly #metadata: (entry: E) => ObjectMeta;
  readonly #wire: Clock;
  readonly #unconfirmed = new Map<string, Unconfirmed<E>>();

  constructor(metadata: (entry: E) => ObjectMeta, wire: Clock) {
    this.#metadata = metadata;
    this.#wire = wire;
  }

  /** unconfirmed is how many own writes the stream has not passed. */
  get unconfirmed(): number {
    return this.#unconfirmed.size;
  }

  /** observed is what the stream last showed for a key. */
  observed(key: ObjectKey): E | undefined {
    const pending = this.#pending(key);
    return pending ? pending.base : this.visible.get(key);
  }

  /** ownWrite is the entry of an own write that the stream has not passed, if it is the version that `metadata` names. */
  ownWrite(key: ObjectKey, { uid, resourceVersion }: ObjectMeta): E | undefined {
    const pending = this.#pending(key);
    if (!pending || pending.deletion) return undefined;
    return pending.uid === uid && pending.version === resourceVersion ? pending.entry : undefined;
  }

  /** observedIn gives everything that the stream has shown, in one namespace or in all. */
  *observedIn(namespace: string | undefined): Generator<[ObjectKey, E]> {
    for (const pair of this.visible.entries(namespace)) {
      if (!this.#pending(pair[0])) yield pair;
    }
    for (const { key, base } of this.#unconfirmed.values()) {
      if (base !== undefined && isIn(key, namespace)) yield [key, base];
    }
  }

  /**
   * observe takes an object, or its absence, from the stream, and answers what that changed. With `rewound` an older
   * version than the one at hand is taken too.
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

  /** adopt takes over a first complete state as it is. False when there is anything it would have to be compared with. */
  adopt(state: Store<E>): boolean {
    return this.#unconfirmed.size === 0 && this.visible.adopt(state);
  }

  /** advance says how far the stream of a namespace has come: own writes up to there give way to what it has shown. */
  advance(namespace: string | undefined, version: string | undefined): void {
    if (this.#unconfirmed.size === 0) return;
    const oldest = this.#wire.monotonic() - LONGEST_UNCONFIRMED_MS;
    for (const pending of this.#unconfirmed.values()) {
      if (!isIn(pending.key, namespace)) continue;
      if (isPassed(pending, version) || pending.recordedAt < oldest) this.#confirm(pending);
    }
  }

  /** forgetWrites drops the own writes of a namespace: the history they belong to is gone. */
  forgetWrites(namespace: string | undefined): void {
    for (const pending of this.#unconfirmed.values()) {
      if (isIn(pending.key, namespace)) this.#confirm(pending);
    }
  }

  /**
   * proven says that the newest state of the server was at `newest` at some moment after `since`. Own writes answered
   * before and newer than that are lost (a restored etcd); deletions answered before are part of it, or lost as well.
   */
  proven(namespace: string | undefined, newest: string, since: number): void {
    for (const pending of this.#unconfirmed.values()) {
      if (pending.recordedAt >= since || !isIn(pending.key, namespace)) continue;
      if (isOlder(newest, pending.version)) this.#confirm(pending);
      else if (pending.deletion) pending.happenedBy ??= newest;
    }
  }

  /** recordWrite shows an own write at once. Versions that cannot be compared cannot be layered: such a write is not shown. */
  recordWrite({ key, uid, entry, version, streamVersion }: OwnWrite<E>): void {
    if (!reaches(version, version) || reaches(streamVersion, version)) return;
    const known = this.#pending(key);
    if (known && (reaches(known.version, version) || (known.deletion && known.uid === uid))) return;
    const shown = this.visible.get(key);
    if (shown !== undefined && reaches(this.#metadata(shown).resourceVersion, version)) return;
    this.#record({ key, uid, deletion: false, entry, version, base: known ? known.base : shown });
  }

  /** recordDelete hides an object that this process has deleted. */
  recordDelete({ key, uid, version, streamVersion }: OwnDelete): void {
    const known = this.#pending(key);
    const shown = this.visible.get(key);
    const metadata = shown === undefined ? undefined : this.#metadata(shown);
    if (known?.deletion && (known.uid === uid || !isOlder(known.version, version))) return;
    // Another object of that name is hidden only when it is surely a predecessor.
    if (metadata && metadata.uid !== uid && !isOlder(metadata.resourceVersion, version)) return;
    // Nothing is shown, and nothing says that the stream has yet to show it: out of scope, or its end has been seen already.
    if (!metadata && !known && (version === undefined || reaches(streamVersion, version))) return;
    const newest = newerOf(version, metadata?.resourceVersion);
    this.#record({ key, uid, deletion: true, entry: undefined, version: newest, base: known ? known.base : shown });
  }

  #record(write: Omit<Unconfirmed<E>, 'recordedAt' | 'happenedBy'>): void {
    const text = keyString(write.key);
    const pending: Unconfirmed<E> = { ...write, recordedAt: this.#wire.monotonic(), happenedBy: undefined };
    // Deleted first, so that the map stays in the order of recording.
    this.#unconfirmed.delete(text);
    this.#unconfirmed.set(text, pending);
    this.#show(pending);
    if (this.#unconfirmed.size <= MOST_UNCONFIRMED) return;
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

  /** A deletion hides the object itself and every predecessor of the same name that the stream still shows. */
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

/** isPassed says whether a stream that has come to `version` has nothing more to say about an own write. */
function isPassed(pending: Unconfirmed<unknown>, version: string | undefined): boolean {
  if (!pending.deletion) return reaches(version, pending.version);
  // Without the object in the stream there is nothing to hide; with it, its end should have come by now.
  return reaches(version, pending.base === undefined ? pending.version : pending.happenedBy);
}

/** confirms says whether what the stream shows of a key is at or past an own write of it. */
function confirms(pending: Unconfirmed<unknown>, exists: boolean, metadata: ObjectMeta): boolean {
  if (!pending.deletion) return reaches(metadata.resourceVersion, pending.version);
  if (metadata.uid === pending.uid) return !exists;
  // Another object of that name is a successor, and ends the matter, when it is newer than what was deleted.
  return isOlder(pending.version, metadata.resourceVersion);
}

function isIn(key: ObjectKey, namespace: string | undefined): boolean {
  return namespace === undefined || key.namespace === namespace;
}
