import { setMaxListeners } from 'node:events';
import type { KubernetesObject, ObjectKey, Resource } from '@bowline/kubernetes';
import { type Clock, type Random, systemClock, systemRandom, untilAborted } from '@bowline/machinery';
import type { Client } from '../client/client.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import { type Log, silentLog } from '../observability/log.ts';
import { type Metrics, noMetrics } from '../observability/metrics.ts';
import type { InformerHealth } from './health.ts';
import type { Informer } from './informer.ts';
import { registerInformerMetrics } from './informer-metrics.ts';
import { type ScopeOptions, scopeOf } from './scope.ts';
import { ServerSupport } from './server-support.ts';
import { SharedInformer } from './shared-informer.ts';
import type { View, ViewOf } from './view.ts';

/** CacheOptions configures a cache. */
export interface CacheOptions {
  /** The client whose identity the cache reads with. */
  readonly client: Pick<Client, 'list' | 'watch'>;
  /** The clock for timestamps in health reports. Defaults to the system clock. */
  readonly clock?: Clock;
  /** The clock for watches, idle timeouts and retries. Defaults to the system clock. */
  readonly wire?: Clock;
  /** Defaults to Math.random. */
  readonly random?: Random;
  /** Defaults to no logging. */
  readonly log?: Log;
  /** Defaults to no metrics. */
  readonly metrics?: Metrics;
  /** A label for metrics, usually the operator's name. Defaults to `default`. */
  readonly name?: string;
  /**
   * An annotation that every view keeps, because the runtime acts on it: the one that pauses objects. Defaults to none.
   */
  readonly pausedAnnotation?: string;
  /**
   * Freezes stored objects, so that code that modifies a shared object fails immediately; for development. Defaults to
   * false.
   */
  readonly freeze?: boolean;
}

/** InformerOptions configures which objects of a kind an informer keeps and what it keeps of them. */
export interface InformerOptions<V> extends ScopeOptions {
  /** Defaults to `full`. */
  readonly view?: V;
  /**
   * Whether the caller works without the kind: health and metrics then do not treat it as a problem that the server
   * does not serve it, unless another user of the informer needs the kind. Defaults to false.
   */
  readonly optional?: boolean | undefined;
}

/**
 * Cache owns the informers of one identity. Informers with the same kind, scope and view are shared.
 *
 * ```ts
 * const cache = new Cache({ client });
 * const pods = cache.informer(Pod, { view: 'metadata', namespaces: ['default'] });
 * const running = cache.run(signal);
 * await pods.synced(signal);
 * ```
 */
export class Cache {
  readonly #client: Pick<Client, 'list' | 'watch'>;
  readonly #clock: Clock;
  readonly #wire: Clock;
  readonly #random: Random;
  readonly #log: Log;
  readonly #metrics: Metrics;
  readonly #name: string;
  readonly #freeze: boolean;
  readonly #pausedAnnotation: string | undefined;
  readonly #support: ServerSupport;
  /** By kind, then by scope, then by view; views are compared by identity. */
  readonly #informers = new Map<string, Map<string, Map<View<never>, SharedInformer<unknown>>>>();
  readonly #running = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  #isRunning = false;
  #crash: Error | undefined;

  constructor(options: CacheOptions) {
    this.#client = options.client;
    this.#clock = options.clock ?? systemClock;
    this.#wire = options.wire ?? systemClock;
    this.#random = options.random ?? systemRandom;
    this.#log = options.log ?? silentLog;
    this.#metrics = options.metrics ?? noMetrics;
    this.#name = options.name ?? 'default';
    this.#freeze = options.freeze ?? false;
    this.#pausedAnnotation = options.pausedAnnotation;
    this.#support = new ServerSupport(this.#wire);
    // Every informer adds a listener: Node would report more than ten as a leak.
    setMaxListeners(0, this.#stop.signal);
  }

  /**
   * informer returns the informer of a kind, which is created on first use and is kept current while the cache runs.
   */
  informer<T extends KubernetesObject, Id extends string, const V extends View<T> = 'full'>(
    resource: Resource<T, Id>,
    options: InformerOptions<V> = {},
  ): Informer<ViewOf<Resource<T, Id>, V>> {
    const scope = scopeOf(resource, options);
    // Only the values that reads return depend on the object type, and the return type covers those.
    const view = (options.view ?? 'full') as View<never>;
    const views = upsert(upsert(this.#informers, resource.id), scope.id);
    let informer = views.get(view);
    if (!informer) {
      informer = new SharedInformer<unknown>({
        client: this.#client,
        resource,
        view,
        scope,
        clock: this.#clock,
        wire: this.#wire,
        random: this.#random,
        log: this.#log,
        support: this.#support,
        freeze: this.#freeze,
        pausedAnnotation: this.#pausedAnnotation,
      });
      views.set(view, informer);
      this.#start(informer);
    }
    if (!options.optional) informer.require();
    return informer as unknown as Informer<ViewOf<Resource<T, Id>, V>>;
  }

  /**
   * run keeps every informer current, including those created later, and resolves when all of them have stopped. A
   * cache runs only once.
   */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#isRunning)
      throw new BowlineError('BOWLINE_CACHE_RUNS_ONCE', 'cannot run a cache twice; create a new one');
    this.#isRunning = true;
    const onAbort = (): void => this.#stop.abort(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    using _metrics = registerInformerMetrics(this.#metrics, this.#name, () => this.health());
    try {
      for (const informer of this.#all()) this.#start(informer);
      await untilAborted(this.#stop.signal);
      // An informer created while the others stop finds the signal aborted, but must be awaited as well.
      while (this.#running.size > 0) await Promise.all(this.#running);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
    if (this.#crash) throw this.#crash;
  }

  /** recordWrite makes the response of a write visible to readers immediately. The object is not modified. */
  recordWrite<T extends KubernetesObject>(resource: Resource<T>, object: T): void {
    for (const informer of this.#all(resource)) informer.recordWrite(object);
  }

  /**
   * recordDelete hides an object whose deletion the server has confirmed. If the object still exists (finalizers, grace
   * period), pass the server's response to `recordWrite` instead. `resourceVersion` is the newest known version of the
   * object.
   */
  recordDelete(
    resource: Resource,
    key: ObjectKey,
    deleted: { readonly uid: string; readonly resourceVersion?: string | undefined },
  ): void {
    for (const informer of this.#all(resource)) informer.recordDelete(key, deleted);
  }

  /** health returns the health of every informer. */
  health(): readonly InformerHealth[] {
    return Array.from(this.#all(), (informer) => informer.health());
  }

  *#all(resource?: Resource): Generator<SharedInformer<unknown>> {
    const kinds = resource ? [this.#informers.get(resource.id) ?? new Map()] : this.#informers.values();
    for (const scopes of kinds) {
      for (const views of scopes.values()) yield* views.values();
    }
  }

  #start(informer: SharedInformer<unknown>): void {
    if (!this.#isRunning) return;
    const running = informer
      .run(this.#stop.signal)
      .catch((error: unknown) => {
        // Reflectors survive every external failure, so this is a bug: stop rather than serve stale data unnoticed.
        this.#crash = error instanceof Error ? error : new Error('an informer ended', { cause: error });
        this.#stop.abort(this.#crash);
      })
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }
}

function upsert<K, L, M>(map: Map<K, Map<L, M>>, key: K): Map<L, M> {
  let inner = map.get(key);
  if (!inner) {
    inner = new Map();
    map.set(key, inner);
  }
  return inner;
}
