import { type KubernetesObject, keyOf, type ObjectKey, type Resource } from '@bowline/kubernetes';
import { type Clock, labelSelector, type Random } from '@bowline/machinery';
import type { Client } from '../client/client.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import type { Log } from '../observability/log.ts';
import type { InformerHealth } from './health.ts';
import type { Informer, InformerEvent, InformerHandler, ReadOptions } from './informer.ts';
import { informerHealth } from './informer-health.ts';
import { LayeredStore } from './layered-store.ts';
import { Reflector } from './reflector.ts';
import type { Scope } from './scope.ts';
import type { ServerSupport } from './server-support.ts';
import type { IndexFunction } from './store.ts';
import { StoreTarget } from './store-target.ts';
import { Subscribers } from './subscribers.ts';
import type { View } from './view.ts';
import { codecOf, type ViewCodec } from './view-codec.ts';

/** SharedInformerOptions configures an informer. */
export interface SharedInformerOptions {
  readonly client: Pick<Client, 'list' | 'watch'>;
  readonly resource: Resource;
  readonly view: View<never>;
  readonly scope: Scope;
  readonly clock: Clock;
  readonly wire: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly support: ServerSupport;
  readonly freeze: boolean;
  /** An annotation that every view keeps. */
  readonly pausedAnnotation: string | undefined;
}

/** Part is one reflector and the namespace it watches. */
interface Part {
  readonly namespace: string | undefined;
  readonly reflector: Reflector<KubernetesObject>;
}

/** ServedHandler is a subscriber of `onServedChange`, with what it was last told. */
interface ServedHandler {
  readonly handler: (isServed: boolean) => void;
  last: boolean;
}

/** SharedInformer is the informer returned by a cache: it connects reflectors, a store with indexes, and handlers. */
export class SharedInformer<V> implements Informer<V> {
  readonly resource: Resource;
  readonly view: View<never>;
  readonly scope: Scope;
  readonly #clock: Clock;
  readonly #wire: Clock;
  readonly #log: Log;
  readonly #codec: ViewCodec<unknown, V>;
  readonly #store: LayeredStore<unknown>;
  readonly #subscribers: Subscribers<V>;
  readonly #parts: readonly Part[];
  readonly #indexes = new Map<string, IndexFunction<V>>();
  readonly #waiting = new Set<() => void>();
  readonly #servedHandlers = new Set<ServedHandler>();
  #required = false;
  #stopped = false;
  #syncedAt: number | undefined;
  #handlerErrors = 0;
  #projectionErrors = 0;

  constructor(options: SharedInformerOptions) {
    this.resource = options.resource;
    this.view = options.view;
    this.scope = options.scope;
    this.#clock = options.clock;
    this.#wire = options.wire;
    this.#log = options.log.with({ group: options.resource.group, kind: options.resource.kind });
    this.#codec = codecOf<V>(options.view, options);
    this.#store = new LayeredStore((entry) => this.#codec.metadata(entry), options.wire);
    this.#subscribers = new Subscribers((error) => this.#handlerFailed(error));
    this.#parts = (options.scope.namespaces ?? [undefined]).map((namespace) => this.#partOf(namespace, options));
  }

  #partOf(namespace: string | undefined, options: SharedInformerOptions): Part {
    const reflector = new Reflector<KubernetesObject>({
      client: options.client,
      // The caller knows the type of the objects; here they are objects with metadata.
      resource: options.resource as Resource<KubernetesObject>,
      scope: {
        namespace,
        labelSelector: options.scope.labelSelector,
        fieldSelector: options.scope.fieldSelector,
        metadataOnly: this.#codec.metadataOnly,
      },
      target: new StoreTarget({
        namespace,
        store: this.#store,
        codec: this.#codec,
        hasSubscribers: () => !this.#subscribers.isEmpty,
        queue: (event) => this.#subscribers.queue(event),
        deliver: () => this.#subscribers.deliver(),
        onProjectionError: (key, error) => {
          this.#projectionErrors++;
          this.#log.error('the view of an object failed', { ...key, error });
        },
      }),
      wire: options.wire,
      random: options.random,
      log: this.#log,
      support: options.support,
      onSynced: () => this.#partChanged(),
      onNotServed: () => this.#partChanged(),
    });
    return { namespace, reflector };
  }

  /** run keeps the informer current until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      await Promise.all(this.#parts.map((part) => part.reflector.run(signal)));
    } finally {
      this.#stopped = true;
      this.#wake();
    }
  }

  get hasSynced(): boolean {
    return this.#parts.every((part) => part.reflector.status.synced);
  }

  /** require records that a user of the informer does not work without the kind. */
  require(): void {
    this.#required = true;
  }

  get isServed(): boolean | undefined {
    const parts = this.#parts.map(({ reflector }) => reflector.status.served);
    return parts.includes(undefined) ? undefined : parts.every((served) => served);
  }

  onServedChange(handler: (isServed: boolean) => void): Disposable {
    const entry: ServedHandler = { handler, last: this.isServed === true };
    this.#servedHandlers.add(entry);
    return { [Symbol.dispose]: () => void this.#servedHandlers.delete(entry) };
  }

  async synced(signal?: AbortSignal): Promise<void> {
    await this.#until(() => this.hasSynced, signal);
  }

  async settled(signal?: AbortSignal): Promise<void> {
    await this.#until(() => this.isServed !== undefined, signal);
  }

  async #until(condition: () => boolean, signal: AbortSignal | undefined): Promise<void> {
    while (!condition()) {
      signal?.throwIfAborted();
      if (this.#stopped) {
        throw new BowlineError(
          'BOWLINE_CACHE_STOPPED',
          `the cache of ${this.resource.id} stopped before it was complete; start a new one`,
        );
      }
      await this.#changed(signal);
    }
  }

  #changed(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#waiting.delete(done);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      this.#waiting.add(done);
      signal?.addEventListener('abort', done, { once: true });
    });
  }

  #wake(): void {
    for (const done of [...this.#waiting]) done();
  }

  #partChanged(): void {
    if (this.hasSynced) this.#syncedAt = this.#clock.now();
    this.#wake();
    const isServed = this.isServed === true;
    for (const entry of [...this.#servedHandlers]) {
      if (entry.last === isServed) continue;
      entry.last = isServed;
      try {
        entry.handler(isServed);
      } catch (error) {
        this.#handlerFailed(error);
      }
    }
  }

  get(key: ObjectKey): V | undefined {
    const entry = this.#store.visible.get(key);
    return entry === undefined ? undefined : this.#codec.value(entry);
  }

  list(options: ReadOptions = {}): readonly V[] {
    const selector = options.labelSelector === undefined ? undefined : labelSelector(options.labelSelector);
    const values: V[] = [];
    for (const entry of this.#store.visible.values(options.namespace)) {
      if (selector && !selector.matches(this.#codec.metadata(entry).labels)) continue;
      values.push(this.#codec.value(entry));
    }
    return values;
  }

  addIndex(name: string, valuesOf: IndexFunction<V>): void {
    const known = this.#indexes.get(name);
    if (known === valuesOf) return;
    if (known) {
      throw new BowlineError(
        'BOWLINE_CACHE_INDEX',
        `cannot add the index ${name} of ${this.resource.id}: another function has that name; choose another name`,
      );
    }
    this.#indexes.set(name, valuesOf);
    this.#store.visible.addIndex(name, (entry) => {
      try {
        return valuesOf(this.#codec.value(entry));
      } catch (error) {
        this.#handlerFailed(error);
        return [];
      }
    });
  }

  byIndex(name: string, value: string): readonly V[] {
    const entries = this.#store.visible.byIndex(name, value);
    if (!entries) {
      throw new BowlineError(
        'BOWLINE_CACHE_INDEX',
        `cannot read the index ${name} of ${this.resource.id}: the index does not exist; call addIndex first`,
      );
    }
    return Array.from(entries, (entry) => this.#codec.value(entry));
  }

  subscribe(handler: InformerHandler<V>): Disposable {
    return this.#subscribers.add(handler, this.#replay());
  }

  *#replay(): Generator<InformerEvent<V>> {
    for (const [key, entry] of [...this.#store.observedIn(undefined)]) {
      const current = this.#codec.value(entry);
      yield { type: 'add', key, current, metadata: this.#codec.metadata(entry), initial: true };
    }
  }

  /** recordWrite shows an own write to readers until the stream has passed it. */
  recordWrite(object: KubernetesObject): void {
    const key = keyOf(object);
    if (!this.scope.covers(key)) return;
    const { uid, resourceVersion: version } = object.metadata ?? {};
    const streamVersion = this.#streamVersion(key);
    let entry: unknown;
    try {
      entry = this.scope.matches(object) ? this.#codec.encode(object, false) : undefined;
    } catch (error) {
      this.#projectionErrors++;
      this.#log.error('the view of an object failed', { ...key, error });
      return;
    }
    this.#store.recordWrite({ key, uid, entry, version, streamVersion });
  }

  /** recordDelete hides an object from readers until the stream has delivered its deletion. */
  recordDelete(key: ObjectKey, deleted: { readonly uid: string; readonly resourceVersion?: string | undefined }): void {
    if (!this.scope.covers(key)) return;
    const streamVersion = this.#streamVersion(key);
    this.#store.recordDelete({ key, uid: deleted.uid, version: deleted.resourceVersion, streamVersion });
  }

  #streamVersion(key: ObjectKey): string | undefined {
    return this.#parts.find((part) => part.namespace === undefined || part.namespace === key.namespace)?.reflector
      .version;
  }

  #handlerFailed(error: unknown): void {
    this.#handlerErrors++;
    this.#log.error('an informer handler failed', { error });
  }

  health(): InformerHealth {
    return informerHealth({
      resource: this.resource,
      view: this.#codec.name,
      scope: this.scope,
      statuses: this.#parts.map((part) => part.reflector.status),
      now: this.#wire.monotonic(),
      served: this.isServed,
      optional: !this.#required,
      syncedAt: this.#syncedAt,
      objects: this.#store.visible.size,
      unconfirmedWrites: this.#store.unconfirmed,
      handlerErrors: this.#handlerErrors,
      projectionErrors: this.#projectionErrors,
    });
  }
}
