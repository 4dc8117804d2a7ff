import { type KubernetesObject, keyOf, type ObjectKey, type ObjectMeta } from '@bowline/kubernetes';
import type { InformerEvent } from './informer.ts';
import type { Change, LayeredStore } from './layered-store.ts';
import type { CommitOptions, ReflectorTarget, Snapshot } from './reflector-target.ts';
import { Store } from './store.ts';
import type { ViewCodec } from './view-codec.ts';

/** StoreTargetOptions connects a reflector to its part of an informer's store. */
export interface StoreTargetOptions<E, V> {
  /** The namespace whose objects the reflector sees; undefined for all. */
  readonly namespace: string | undefined;
  readonly store: LayeredStore<E>;
  readonly codec: ViewCodec<E, V>;
  /** Whether there are subscribers; otherwise no events need to be created. */
  readonly hasSubscribers: () => boolean;
  /** Queues an event. */
  readonly queue: (event: InformerEvent<V>) => void;
  /** Delivers the queued events. */
  readonly deliver: () => Promise<void>;
  readonly onProjectionError: (key: ObjectKey, error: unknown) => void;
}

/** StoreTarget writes the objects of a reflector into a store, through the view, and creates the events. */
export class StoreTarget<E, V> implements ReflectorTarget {
  readonly #namespace: string | undefined;
  readonly #store: LayeredStore<E>;
  readonly #codec: ViewCodec<E, V>;
  readonly #options: StoreTargetOptions<E, V>;

  constructor(options: StoreTargetOptions<E, V>) {
    this.#namespace = options.namespace;
    this.#store = options.store;
    this.#codec = options.codec;
    this.#options = options;
  }

  begin(): StoreSnapshot<E> {
    return new StoreSnapshot((key, object) => this.#encodeListed(key, object));
  }

  async commit(snapshot: Snapshot, version: string, { rewound, newestSince }: CommitOptions): Promise<void> {
    if (!(snapshot instanceof StoreSnapshot)) throw new TypeError('the snapshot belongs to another target');
    // Created by `begin`, so its entries use this target's codec.
    const listed = (snapshot as StoreSnapshot<E>).entries;
    if (rewound) this.#store.forgetWrites(this.#namespace);
    else if (newestSince !== undefined) this.recordNewest(version, newestSince);
    // The first state is by far the largest step of an informer: adopt it without copying, and create no event if there
    // is no subscriber.
    if (this.#store.adopt(listed)) this.#queueAll();
    else this.#replace(listed, rewound);
    this.#store.advance(this.#namespace, version);
    await this.#options.deliver();
  }

  #queueAll(): void {
    if (!this.#options.hasSubscribers()) return;
    for (const [key, current] of this.#store.observedIn(this.#namespace)) {
      this.#queueChange({ key, previous: undefined, current }, true);
    }
  }

  #replace(listed: Store<E>, rewound: boolean): void {
    const missing = [...this.#store.observedIn(this.#namespace)].filter(([key]) => listed.get(key) === undefined);
    for (const [key, entry] of missing) this.#queueStaleDelete(key, this.#codec.metadata(entry));
    for (const [key, entry] of listed.entries()) {
      this.#queueChange(this.#store.observe(key, entry, this.#codec.metadata(entry), rewound), true);
    }
  }

  recordNewest(version: string, since: number): void {
    this.#store.recordNewest(this.#namespace, version, since);
  }

  upsert(object: KubernetesObject): void {
    const key = keyOf(object);
    const metadata = this.#codec.identify(object);
    const encoded = this.#ownWrite(key, metadata) ?? this.#encode(key, object);
    if (encoded === 'failed') return;
    this.#queueChange(this.#store.observe(key, encoded, metadata), false, metadata);
  }

  remove(object: KubernetesObject): void {
    const key = keyOf(object);
    const metadata = this.#codec.identify(object);
    const known = this.#store.observed(key);
    this.#queueChange(this.#store.observe(key, undefined, metadata), false, metadata);
    if (known !== undefined || this.#codec.name !== 'trigger') return;
    // A trigger may have rejected the object when it last changed but still accept its deletion.
    const ended = this.#encode(key, object);
    if (ended !== undefined && ended !== 'failed') {
      this.#queueChange({ key, previous: ended, current: undefined }, false, metadata);
    }
  }

  async flush(version: string | undefined): Promise<void> {
    this.#store.advance(this.#namespace, version);
    await this.#options.deliver();
  }

  async removeAll(): Promise<void> {
    this.#store.forgetWrites(this.#namespace);
    const all = [...this.#store.observedIn(this.#namespace)];
    for (const [key, entry] of all) this.#queueStaleDelete(key, this.#codec.metadata(entry));
    await this.#options.deliver();
  }

  /** The deletion of the object was not observed: report its last known state. */
  #queueStaleDelete(key: ObjectKey, metadata: ObjectMeta): void {
    const change = this.#store.observe(key, undefined, metadata);
    if (change?.previous === undefined) return;
    const previous = this.#codec.value(change.previous);
    this.#options.queue({ type: 'delete', key, previous, metadata, initial: true, stale: true });
  }

  #queueChange(change: Change<E> | undefined, initial: boolean, last?: ObjectMeta): void {
    if (!change || !this.#options.hasSubscribers()) return;
    const { key } = change;
    const before = change.previous === undefined ? undefined : this.#codec.metadata(change.previous);
    const after = change.current === undefined ? undefined : this.#codec.metadata(change.current);
    const previous = change.previous === undefined ? undefined : this.#codec.value(change.previous);
    const current = change.current === undefined ? undefined : this.#codec.value(change.current);
    const queue = this.#options.queue;
    if (current === undefined || after === undefined) {
      if (previous !== undefined) queue({ type: 'delete', key, previous, metadata: last ?? before ?? {}, initial });
    } else if (previous === undefined || before === undefined) {
      queue({ type: 'add', key, current, metadata: after, initial });
    } else if (before.uid === after.uid) {
      queue({ type: 'update', key, previous, current, metadata: after, initial });
    } else {
      // Same name but another object: the deletion of the first one was not observed.
      queue({ type: 'delete', key, previous, metadata: before, initial, stale: true });
      queue({ type: 'add', key, current, metadata: after, initial });
    }
  }

  /**
   * #encodeListed returns the entry of a listed object for a snapshot. A stored entry of the same version is reused, so
   * that a relist of an unchanged kind costs no memory. If the view fails, the last entry is kept, otherwise the object
   * would count as deleted.
   */
  #encodeListed(key: ObjectKey, object: KubernetesObject): E | undefined {
    const known = this.#store.observed(key);
    if (known !== undefined && this.#codec.name !== 'trigger') {
      const { uid, resourceVersion } = this.#codec.metadata(known);
      if (uid === object.metadata?.uid && resourceVersion === object.metadata?.resourceVersion) return known;
    }
    const encoded = this.#encode(key, object);
    return encoded === 'failed' ? known : encoded;
  }

  /**
   * #ownWrite returns the entry created from the response to an own write if the stream delivers the same version; a
   * trigger is evaluated again for each event.
   */
  #ownWrite(key: ObjectKey, metadata: ObjectMeta): E | undefined {
    return this.#codec.name === 'trigger' ? undefined : this.#store.ownWrite(key, metadata);
  }

  #encode(key: ObjectKey, object: KubernetesObject): E | undefined | 'failed' {
    try {
      return this.#codec.encode(object, true);
    } catch (error) {
      this.#options.onProjectionError(key, error);
      return 'failed';
    }
  }
}

/** StoreSnapshot is a complete state that is still arriving. */
export class StoreSnapshot<E> implements Snapshot {
  readonly #encode: (key: ObjectKey, object: KubernetesObject) => E | undefined;
  #entries = new Store<E>();

  constructor(encode: (key: ObjectKey, object: KubernetesObject) => E | undefined) {
    this.#encode = encode;
  }

  get entries(): Store<E> {
    return this.#entries;
  }

  add(object: KubernetesObject): void {
    const key = keyOf(object);
    const entry = this.#encode(key, object);
    if (entry === undefined) this.#entries.delete(key);
    else this.#entries.set(key, entry);
  }

  remove(object: KubernetesObject): void {
    this.#entries.delete(keyOf(object));
  }

  clear(): void {
    this.#entries = new Store();
  }
}
