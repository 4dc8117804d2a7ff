import { keyString, type ObjectKey, parseKey, type Resource } from '@bowline/kubernetes';
import { between, type Clock, type Random, type Timer, untilAborted } from '@bowline/machinery';
import type { InformerHealth } from '../cache/health.ts';
import type { Informer } from '../cache/informer.ts';
import { trigger, type View } from '../cache/view.ts';
import type { Client } from '../client/client.ts';
import { contentLookup } from '../content/content-lookup.ts';
import { fieldManagerOf, type OperatorIdentity } from '../identity/operator-identity.ts';
import type { Fields, Log } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Cause } from '../queue/cause.ts';
import { Queue } from '../queue/queue.ts';
import type { QueueEntry } from '../queue/queue-options.ts';
import { appliedView } from '../writing/applied-view.ts';
import type { DeletionMode } from '../writing/deletion.ts';
import { EventRecorder } from '../writing/event-recorder.ts';
import { informerLookup } from '../writing/informer-lookup.ts';
import { WriteMemo } from '../writing/write-memo.ts';
import { cacheReads, indexName, omittedSources } from './cache-reads.ts';
import type { EnqueueOptions } from './context.ts';
import type { Controller } from './controller.ts';
import { ControllerMetrics } from './controller-metrics.ts';
import { declaredNamesCheck } from './declared-names.ts';
import { declaredScopeCheck } from './declared-scope.ts';
import { KeyedRuns } from './keyed-runs.ts';
import type { WriteRecorder } from './live-client.ts';
import { ObjectRuns } from './object-runs.ts';
import { type Deferral, Reconciler, type ReconcilerOptions } from './reconciler.ts';
import type { Run } from './run.ts';
import type { RunShared } from './run-context.ts';
import type { CacheReads, Source, SourceTypes } from './sources.ts';
import { TriggerStream } from './trigger-stream.ts';
import { Triggers } from './triggers.ts';

/** ControllerCache is the part of a Cache that a controller needs. */
export interface ControllerCache extends WriteRecorder {
  informer(
    resource: Resource,
    options: Pick<Source, 'namespaces' | 'labelSelector' | 'fieldSelector' | 'optional'> & { view: View<never> },
  ): Informer<unknown>;
}

/** ControllerRunnerOptions holds the environment of a controller. */
export interface ControllerRunnerOptions {
  /** The identity of the operator. */
  readonly identity: OperatorIdentity;
  /** Identifies this process in events. */
  readonly instance: string;
  readonly cache: ControllerCache;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** ControllerRunOptions holds what is known only when the work may begin. */
export interface ControllerRunOptions {
  /** Guarded by leadership. */
  readonly client: Client;
  readonly deps: unknown;
  /** How long running reconciles may continue after the signal. */
  readonly drainMs: number;
  /** Ends everything immediately, including the drain. */
  readonly lost?: AbortSignal | undefined;
}

/** SingleRunsOptions holds what runs without a queue need. */
export interface SingleRunsOptions extends Pick<ControllerRunOptions, 'client' | 'deps'> {
  /** Called with the keys that a run enqueues. */
  readonly enqueue: RunShared['enqueue'];
}

/** SingleRuns executes runs without a queue. */
export interface SingleRuns {
  /** begin returns the work of a run, undefined if there is none for its key, or a deferral. */
  readonly begin: ReconcilerOptions['begin'];
  /** Collects the events of the runs until its `run` is called. */
  readonly events: EventRecorder | undefined;
}

/**
 * ControllerState is the state of a controller: `idle` until it may work, `waiting` for the first state of its
 * informers.
 */
export type ControllerState = 'idle' | 'waiting' | 'running' | 'draining' | 'stopped';

/**
 * ControllerRunner runs one controller. It requests its informers immediately, so that they are warm before the work
 * may begin; it subscribes to them, and fills its queue, only from then on.
 */
export class ControllerRunner implements Disposable {
  readonly controller: Controller;
  readonly #options: ControllerRunnerOptions;
  readonly #informers = new Map<string, Informer<unknown>>();
  /** Undefined for a keyed controller. */
  readonly #primary: { readonly resource: Resource; readonly informer: Informer<unknown> } | undefined;
  readonly #reads: CacheReads<SourceTypes>;
  readonly #queue: Queue;
  readonly #metrics: ControllerMetrics;
  readonly #triggers: Triggers;
  readonly #paused = new Set<string>();
  readonly #terminating = new Map<string, DeletionMode>();
  readonly #writeMemo = new WriteMemo();
  readonly #idPrefix: string;
  #reconciler: Reconciler | undefined;
  #state: ControllerState = 'idle';

  constructor(controller: Controller, options: ControllerRunnerOptions) {
    const { clock, random, metrics, cache } = options;
    const { name, work } = controller;
    this.controller = controller;
    this.#options = { ...options, log: options.log.with({ controller: name }) };
    for (const source of controller.sources) {
      if (source.isOmitted) continue;
      const { namespaces, labelSelector, fieldSelector, optional } = source;
      const view = this.#viewOf(source);
      const informer = cache.informer(source.resource, { view, namespaces, labelSelector, fieldSelector, optional });
      for (const [index, valuesOf] of Object.entries(source.indexes)) {
        informer.addIndex(indexName(name, source.name, index), valuesOf);
      }
      this.#informers.set(source.name, informer);
      if (source.role === 'primary') this.#primary = { resource: source.resource, informer };
    }
    this.#reads = cacheReads(name, this.#informers, omittedSources(controller.sources));
    this.#queue = new Queue({ name, controller: name, backoff: work.backoff, clock, random, metrics });
    this.#metrics = new ControllerMetrics(metrics, name, work.concurrency, {
      activeWorkers: () => this.#reconciler?.active ?? 0,
      overdue: () => this.#reconciler?.overdue ?? 0,
      paused: () => this.#paused.size,
      unmapped: () => this.#triggers.unmapped,
    });
    this.#triggers = new Triggers({
      queue: this.#queue,
      identity: options.identity,
      reads: this.#reads,
      log: this.#options.log,
      metrics: this.#metrics,
      clock,
      random,
      paused: this.#paused,
      terminating: this.#terminating,
    });
    this.#idPrefix = Math.floor(between(random, 36 ** 5, 36 ** 6)).toString(36);
  }

  get state(): ControllerState {
    return this.#state;
  }

  /** isSynced reports whether every informer has its first complete state; an optional one may not be served. */
  get isSynced(): boolean {
    return this.unsynced().length === 0;
  }

  /** unsynced returns the informers that the controller waits for, and why. */
  unsynced(): InformerHealth[] {
    return this.#healthOf(
      ({ optional }, informer) => !(optional ? informer.isServed !== undefined : informer.hasSynced),
    );
  }

  /** notServed returns the informers of optional sources whose kinds are not served: the controller works without them. */
  notServed(): InformerHealth[] {
    return this.#healthOf(({ optional }, informer) => optional === true && informer.isServed === false);
  }

  /** synced resolves when every informer has its first complete state; an optional one may not be served. */
  async synced(signal: AbortSignal): Promise<void> {
    await Promise.all(
      Array.from(this.#watched(), ([{ optional }, informer]) =>
        optional ? informer.settled(signal) : informer.synced(signal),
      ),
    );
  }

  /** watched yields the sources that are not omitted, with their informers. */
  *#watched(): Generator<readonly [Source, Informer<unknown>]> {
    for (const source of this.controller.sources) {
      const informer = this.#informers.get(source.name);
      if (informer) yield [source, informer];
    }
  }

  #healthOf(which: (source: Source, informer: Informer<unknown>) => boolean): InformerHealth[] {
    return Array.from(this.#watched())
      .filter(([source, informer]) => which(source, informer))
      .map(([, informer]) => informer.health());
  }

  /** entries returns the keys that wait, run or are blocked. */
  entries(limit?: number): QueueEntry[] {
    return this.#queue.entries(limit);
  }

  /** overdueKeys returns the keys that are blocked by reconciles that timed out and have not ended. */
  overdueKeys(): readonly string[] {
    return this.#reconciler?.overdueKeys() ?? [];
  }

  /** pausedKeys returns the paused objects. */
  pausedKeys(): readonly string[] {
    return [...this.#paused];
  }

  /**
   * run waits for the informers, works until the signal is aborted, and drains. It resolves when the controller has
   * stopped, with the keys whose reconciles had not ended by then.
   */
  async run(signal: AbortSignal, options: ControllerRunOptions): Promise<readonly string[]> {
    const { log, clock } = this.#options;
    const { lost } = options;
    const stopSignal = lost ? AbortSignal.any([signal, lost]) : signal;
    this.#state = 'waiting';
    try {
      await this.synced(stopSignal);
    } catch (error) {
      this.#state = 'stopped';
      if (stopSignal.aborted) return [];
      throw error;
    }

    const events = this.#recorder(options.client);
    const reconciler = this.#start(options, events);
    const stopRecording = new AbortController();
    const recording = events?.run(stopRecording.signal);
    using subscriptions = this.#subscribe();
    using served = this.#followServedKinds();
    using resync = this.#resyncRegularly();
    // After the first events, so that the most urgent of them runs first.
    const workers = reconciler.run();
    const streams = this.#followTriggers(stopSignal, options.deps);
    this.#state = 'running';
    log.info('controller started', { objects: this.#queue.size });
    const startedAt = clock.monotonic();

    await untilAborted(stopSignal);
    this.#state = 'draining';
    subscriptions[Symbol.dispose]();
    served[Symbol.dispose]();
    resync[Symbol.dispose]();
    const onLost = (): void => reconciler.abortAll(lost?.reason);
    lost?.addEventListener('abort', onLost, { once: true });
    const unfinished = await reconciler.stop(stopSignal.reason, lost?.aborted ? 0 : options.drainMs);
    lost?.removeEventListener('abort', onLost);
    await Promise.all([workers, streams, this.#triggers.stop()]);
    stopRecording.abort(stopSignal.reason);
    await recording;
    this.#state = 'stopped';
    const ranForMs = clock.monotonic() - startedAt;
    if (unfinished.length > 0)
      log.warn('controller stopped before all reconciles had ended', { keys: unfinished, ranForMs });
    else log.info('controller stopped', { ranForMs });
    return unfinished;
  }

  /** Stops measuring. Call it at the end, even for a controller that never ran. */
  [Symbol.dispose](): void {
    void this.#queue.shutDown({ discard: true });
    this.#metrics[Symbol.dispose]();
  }

  /**
   * Written objects are kept with our part of managedFields, so that the cache is enough to decide what would change. A
   * trigger reads the sources of this controller.
   */
  #viewOf({ role, resource, view }: Source): View<never> {
    if (typeof view === 'object' && view.kind === 'trigger') {
      return trigger((key, metadata) => view.keep(key, metadata, this.#reads));
    }
    const isWritten = role !== 'primary' && this.controller.writes.some((write) => write.resource.id === resource.id);
    return isWritten && view === 'full' ? appliedView(fieldManagerOf(this.#options.identity, '')) : view;
  }

  #recorder(client: Client): EventRecorder | undefined {
    if (!this.#primary && this.controller.reports.length === 0) return undefined;
    const { identity, instance, clock, random, log, metrics } = this.#options;
    const controller = fieldManagerOf(identity, this.controller.name);
    return new EventRecorder({ client, controller, instance, clock, random, log, metrics });
  }

  /** single prepares runs for a caller without a queue, which decides which key runs and when: a unit test. */
  single({ enqueue, ...options }: SingleRunsOptions): SingleRuns {
    const events = this.#recorder(options.client);
    return { begin: this.#begin({ ...this.#shared(options), enqueue }, events), events };
  }

  #begin(shared: RunShared, events: EventRecorder | undefined): SingleRuns['begin'] {
    const { controller } = this;
    const metrics = this.#metrics;
    const objects =
      this.#primary && events && new ObjectRuns({ controller, ...this.#primary, shared, events, metrics });
    const keys = new KeyedRuns({ controller, shared, events });
    return objects ? (run) => this.#beginWithObject(objects, run) : (run) => keys.begin(run);
  }

  #start(options: ControllerRunOptions, events: EventRecorder | undefined): Reconciler {
    const { work } = this.controller;
    const { clock, log } = this.#options;
    const reconciler = new Reconciler({
      queue: this.#queue,
      concurrency: work.concurrency,
      timeoutMs: work.timeoutMs,
      clock,
      log,
      metrics: this.#metrics,
      idPrefix: this.#idPrefix,
      begin: this.#begin(this.#shared(options), events),
      describe: (key) => this.#describe(key),
    });
    this.#reconciler = reconciler;
    return reconciler;
  }

  #shared(options: Pick<ControllerRunOptions, 'client' | 'deps'>): RunShared {
    const { clock, log, cache, identity } = this.#options;
    const { name } = this.controller;
    return {
      reads: this.#reads,
      clock,
      deps: options.deps,
      client: options.client,
      recorder: cache,
      logOf: (run) => log.with({ ...this.#describe(run.item.key), reconcileId: run.id }),
      enqueue: (key: ObjectKey | string, wanted: EnqueueOptions = {}) => {
        const cause = { by: 'enqueue', source: name } as const;
        this.#queue.add(typeof key === 'string' ? key : keyString(key), { ...wanted, cause });
      },
      fieldManager: fieldManagerOf(identity, name),
      identity,
      lookup: informerLookup(this.#informers.values()),
      writeMemo: this.#writeMemo,
      checkWrite: declaredScopeCheck(this.controller.sources),
      checkName: declaredNamesCheck(this.controller.writes),
      lookUpContent: contentLookup(this.#informers.values()),
      primary: this.#primary?.resource,
      reports: this.controller.reports.map(({ resource }) => resource),
    };
  }

  #beginWithObject(runs: ObjectRuns, run: Run): (() => unknown) | Deferral | undefined {
    if (this.#paused.has(run.item.key)) {
      this.#options.log.debug('object is paused, not reconciling it', this.#describe(run.item.key));
      return undefined;
    }
    return runs.begin(run, this.#terminating.get(run.item.key));
  }

  #describe(key: string): Fields {
    return this.#primary ? { ...parseKey(key) } : { key };
  }

  #subscribe(): Disposable {
    return together(
      Array.from(this.#watched(), ([source, informer]) =>
        informer.subscribe(this.#triggers.handlerOf(source, informer, this.#primary)),
      ),
    );
  }

  /** What a reconcile does may depend on whether an optional kind is served, so every key runs when that changes. */
  #followServedKinds(): Disposable {
    return together(
      Array.from(this.#watched())
        .filter(([{ optional }]) => optional)
        .map(([{ resource }, informer]) =>
          informer.onServedChange((isServed) => this.#resync({ by: 'served', kind: resource.kind, isServed })),
        ),
    );
  }

  #resync(cause?: Cause): void {
    for (const [source, informer] of this.#watched()) {
      // If there is a primary kind, everything else is reached through it.
      if (source.role === 'primary' || this.#primary === undefined) this.#triggers.resync(source, informer, cause);
    }
  }

  async #followTriggers(signal: AbortSignal, deps: unknown): Promise<void> {
    const { clock, random, log } = this.#options;
    const to = { deps, reads: this.#reads, queue: this.#queue, clock, random, log, metrics: this.#metrics };
    await Promise.all(this.controller.triggers.map((trigger) => new TriggerStream({ trigger, ...to }).run(signal)));
  }

  #resyncRegularly(): Disposable {
    const { clock, random } = this.#options;
    const { resyncMs } = this.controller.work;
    let timer: Timer | undefined;
    const arm = (periodMs: number): void => {
      timer = clock.setTimer(periodMs * between(random, 0.9, 1.1), () => {
        this.#resync();
        arm(periodMs);
      });
    };
    if (resyncMs !== false) arm(resyncMs);
    return { [Symbol.dispose]: () => timer?.cancel() };
  }
}

/** together disposes of several things at once, at most one time. */
function together(parts: Disposable[]): Disposable {
  return {
    [Symbol.dispose]: () => {
      for (const part of parts.splice(0)) part[Symbol.dispose]();
    },
  };
}
