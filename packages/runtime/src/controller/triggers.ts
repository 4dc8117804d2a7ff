import { keyString, type ObjectMeta, type OwnerReference, parseApiVersion, type Resource } from '@bowline/kubernetes';
import type { Clock, Random } from '@bowline/machinery';
import type { Informer, InformerEvent, InformerHandler } from '../cache/informer.ts';
import type { OperatorIdentity } from '../identity/operator-identity.ts';
import type { Log } from '../observability/log.ts';
import type { Cause, ObjectCause } from '../queue/cause.ts';
import type { Queue } from '../queue/queue.ts';
import { LOW_PRIORITY } from '../queue/queue-options.ts';
import { type DeletionMode, deletionOf } from '../writing/deletion.ts';
import type { ControllerMetrics } from './controller-metrics.ts';
import { type MapFailure, MapRetries } from './map-retries.ts';
import type { CacheReads, Source, SourceTypes } from './sources.ts';

/** TriggerOptions holds what is needed to turn events into keys of a queue. */
export interface TriggerOptions {
  /** The identity of the operator. */
  readonly identity: OperatorIdentity;
  readonly queue: Queue;
  readonly reads: CacheReads<SourceTypes>;
  readonly log: Log;
  readonly metrics: ControllerMetrics;
  readonly clock: Clock;
  readonly random: Random;
  /** Keys of the paused primary objects; maintained here, read when a run starts. */
  readonly paused: Set<string>;
  /**
   * The primary objects that are being deleted, with their deletion mode, by key. Maintained here, because a view may
   * not keep it, and because the garbage collector soon removes the finalizer that shows that dependents stay.
   */
  readonly terminating: Map<string, DeletionMode>;
}

/** Triggers turns the events of a controller's sources into keys of its queue, each with its cause. */
export class Triggers {
  readonly #options: TriggerOptions;
  readonly #retries: MapRetries;
  /** Sources whose predicate threw: each is logged once as an error. */
  readonly #badPredicates = new Set<string>();

  constructor(options: TriggerOptions) {
    this.#options = options;
    const { clock, random, log } = options;
    this.#retries = new MapRetries({
      clock,
      random,
      log,
      map: (failure) => this.#mapAgain(failure),
      resync: (source, informer) => this.resync(source, informer),
    });
  }

  /** unmapped returns how many objects wait because a map function threw for them. */
  get unmapped(): number {
    return this.#retries.size;
  }

  /** stop discards the changes that could not be mapped. */
  async stop(): Promise<void> {
    await this.#retries.stop();
  }

  /** handlerOf returns the handler that subscribes to a source's informer. */
  handlerOf(
    source: Source,
    informer: Informer<unknown>,
    primary: { readonly resource: Resource; readonly informer: Informer<unknown> } | undefined,
  ): InformerHandler<unknown> {
    const { role } = source;
    if (role === 'primary') return (event) => this.#onPrimary(source, event);
    if (role === 'owns' && primary) {
      return (event) => this.#onOwned(source, event, primary.resource, primary.informer);
    }
    return (event) => this.#onWatched(source, informer, event);
  }

  /** resync enqueues all keys that a source concerns, at low priority. */
  resync(source: Source, informer: Informer<unknown>, cause: Cause = { by: 'resync' }): void {
    if (source.role === 'owns') return;
    const add = (key: string): void => {
      this.#options.queue.add(key, { priority: LOW_PRIORITY, cause });
    };
    // Subscribing replays the stored objects, including keys that a projection may have dropped.
    const replay = informer.subscribe((event) => {
      if (!this.#accepts(source, event)) return;
      if (source.role === 'primary') add(keyString(event.key));
      else for (const key of this.#keysFor(source, informer, event)) add(key);
    });
    replay[Symbol.dispose]();
  }

  #onPrimary(source: Source, event: InformerEvent<unknown>): void {
    const { queue } = this.#options;
    const key = keyString(event.key);
    const cause: Cause = { by: 'watch', ...objectCause(source, event) };
    if (event.type === 'delete') {
      this.#options.paused.delete(key);
      this.#options.terminating.delete(key);
      // A key that waits for a distant time is moved forward and found gone, so that nothing is kept for deleted
      // objects.
      if (queue.has(key)) queue.add(key, { cause });
      else queue.forget(key);
      return;
    }
    // Both must be noticed regardless of the predicates.
    const pauseChanged = this.#notePause(key, event.metadata);
    const deletionChanged = this.#noteDeletion(key, event.metadata);
    if (pauseChanged || deletionChanged || this.#accepts(source, event))
      queue.add(key, { cause, priority: priorityOf(event) });
  }

  /** Reports whether this event paused or resumed the object: such an event passes every predicate. */
  #notePause(key: string, metadata: ObjectMeta): boolean {
    const { identity, paused, log } = this.#options;
    const isPaused = metadata.annotations?.[identity.annotations.paused] === 'true';
    if (isPaused === paused.has(key)) return false;
    if (isPaused) paused.add(key);
    else paused.delete(key);
    log.info(isPaused ? 'object is paused' : 'object is resumed', {
      namespace: metadata.namespace,
      name: metadata.name,
    });
    return true;
  }

  /** Reports whether the deletion of the object began with this event. */
  #noteDeletion(key: string, metadata: ObjectMeta): boolean {
    const { identity, terminating } = this.#options;
    const deletion = deletionOf({ metadata }, identity.annotations.deletion);
    if (deletion === undefined) {
      // An object of the same name was recreated.
      terminating.delete(key);
      return false;
    }
    const known = terminating.get(key);
    if (known !== 'orphan') terminating.set(key, deletion.mode);
    return known === undefined;
  }

  #onOwned(source: Source, event: InformerEvent<unknown>, kind: Resource, primaries: Informer<unknown>): void {
    if (!this.#accepts(source, event)) return;
    const before = (event.previous as { metadata?: ObjectMeta } | undefined)?.metadata;
    const keys = new Set<string>();
    for (const metadata of [event.metadata, before]) {
      const owner = controllerOf(metadata, kind);
      if (owner === undefined) continue;
      const key =
        kind.scope === 'Namespaced' && metadata?.namespace
          ? { namespace: metadata.namespace, name: owner.name }
          : { name: owner.name };
      // An owner that is missing, or is another object of the same name, is not concerned.
      const primary = primaries.get(key) as { metadata?: ObjectMeta } | undefined;
      if (primary === undefined) continue;
      if (primary.metadata?.uid === undefined || primary.metadata.uid === owner.uid) keys.add(keyString(key));
    }
    const cause: Cause = { by: 'owner', ...objectCause(source, event) };
    for (const key of keys) this.#options.queue.add(key, { cause, priority: priorityOf(event) });
  }

  #onWatched(source: Source, informer: Informer<unknown>, event: InformerEvent<unknown>): void {
    if (!this.#accepts(source, event)) return;
    const cause: Cause = { by: 'map', ...objectCause(source, event) };
    for (const key of this.#keysFor(source, informer, event)) {
      this.#options.queue.add(key, { cause, priority: priorityOf(event) });
    }
  }

  #keysFor(source: Source, informer: Informer<unknown>, event: InformerEvent<unknown>): Set<string> {
    const keys = new Set<string>();
    for (const state of [event.previous, event.current]) {
      if (state === undefined) continue;
      const error = this.#map(source, state, keys);
      if (error)
        this.#retries.add({ source, informer, cause: objectCause(source, event), states: [state] }, error.thrown);
    }
    return keys;
  }

  #mapAgain({ source, cause, states }: MapFailure): readonly unknown[] {
    const keys = new Set<string>();
    const failed = states.filter((state) => this.#map(source, state, keys) !== undefined);
    for (const key of keys) this.#options.queue.add(key, { cause: { by: 'map', ...cause } });
    return failed;
  }

  /** map adds the keys that an object concerns; it returns what the map function threw. */
  #map({ map }: Source, state: unknown, keys: Set<string>): { readonly thrown: unknown } | undefined {
    if (map === undefined) return undefined;
    try {
      for (const key of map(state, this.#options.reads)) keys.add(key);
      return undefined;
    } catch (thrown) {
      this.#options.metrics.mapFailed();
      return { thrown };
    }
  }

  /** A predicate only saves work: if it throws, the event counts. */
  #accepts(source: Source, event: InformerEvent<unknown>): boolean {
    try {
      return source.when({ previous: event.previous, current: event.current });
    } catch (error) {
      const level = this.#badPredicates.has(source.name) ? 'debug' : 'error';
      this.#badPredicates.add(source.name);
      this.#options.metrics.mapFailed();
      this.#options.log[level]('predicate threw, accepting the event', { ...objectCause(source, event), error });
      return true;
    }
  }
}

function priorityOf(event: InformerEvent<unknown>): number {
  return event.initial ? LOW_PRIORITY : 0;
}

function objectCause(source: Source, event: InformerEvent<unknown>): ObjectCause {
  return { kind: source.resource.kind, key: keyString(event.key), type: event.type };
}

/** The version is ignored, only the group must match: an owner reference may name an older version. */
function controllerOf(metadata: ObjectMeta | undefined, kind: Resource): OwnerReference | undefined {
  return metadata?.ownerReferences?.find(
    (owner) =>
      owner.controller === true && owner.kind === kind.kind && parseApiVersion(owner.apiVersion).group === kind.group,
  );
}
