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

/** TriggerOptions is what turns events into keys of a queue. */
export interface TriggerOptions {
  /** The operator's. */
  readonly identity: OperatorIdentity;
  readonly queue: Queue;
  readonly reads: CacheReads<SourceTypes>;
  readonly log: Log;
  readonly metrics: ControllerMetrics;
  readonly clock: Clock;
  readonly random: Random;
  /** Keys of the primary objects that are paused; kept here, read by whoever starts a run. */
  readonly paused: Set<string>;
  /**
   * The primary objects that are being deleted, and how, by key; kept here, because a view may not keep it, and because the
   * garbage collector soon takes away the sign that dependents stay.
   */
  readonly terminating: Map<string, DeletionMode>;
}

/** Triggers turns the events of a controller's sources into keys of its queue, each with its cause. */
export class Triggers {
  readonly #options: TriggerOptions;
  readonly #retries: MapRetries;
  /** Sources whose predicate threw: the log has one line about each. */
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

  /** unmapped is how many objects wait because a map function threw for them. */
  get unmapped(): number {
    return this.#retries.size;
  }

  /** stop gives up what could not be mapped. */
  async stop(): Promise<void> {
    await this.#retries.stop();
  }

  /** handlerOf is what subscribes to a source's informer. */
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

  /** resync enqueues everything that a source concerns, at low priority. */
  resync(source: Source, informer: Informer<unknown>): void {
    if (source.role === 'owns') return;
    const add = (key: string): void => {
      this.#options.queue.add(key, { priority: LOW_PRIORITY, cause: { by: 'resync' } });
    };
    // Subscribing replays what is stored, with the keys that a projection may have dropped.
    const replay = informer.subscribe((event) => {
      if (!this.#passes(source, event)) return;
      if (source.role === 'primary') add(keyString(event.key));
      else for (const key of this.#mapped(source, informer, event)) add(key);
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
      // A key that waits for a far time comes forward and is found gone, so that nothing is kept of dead objects.
      if (queue.has(key)) queue.add(key, { cause });
      else queue.forget(key);
      return;
    }
    // Both are to be noticed whatever the predicates say.
    const pauseChanged = this.#notePause(key, event.metadata);
    const deletionChanged = this.#noteDeletion(key, event.metadata);
    if (pauseChanged || deletionChanged || this.#passes(source, event))
      queue.add(key, { cause, priority: priorityOf(event) });
  }

  /** Whether the object was paused or resumed by this event: that passes every predicate. */
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

  /** Whether the deletion of the object began with this event. */
  #noteDeletion(key: string, metadata: ObjectMeta): boolean {
    const { identity, terminating } = this.#options;
    const deletion = deletionOf({ metadata }, identity.annotations.deletion);
    if (deletion === undefined) {
      // An object of the same name was made again.
      terminating.delete(key);
      return false;
    }
    const known = terminating.get(key);
    if (known !== 'orphan') terminating.set(key, deletion.mode);
    return known === undefined;
  }

  #onOwned(source: Source, event: InformerEvent<unknown>, kind: Resource, primaries: Informer<unknown>): void {
    if (!this.#passes(source, event)) return;
    const before = (event.previous as { metadata?: ObjectMeta } | undefined)?.metadata;
    const keys = new Set<string>();
    for (const metadata of [event.metadata, before]) {
      const owner = controllerOf(metadata, kind);
      if (owner === undefined) continue;
      const key =
        kind.scope === 'Namespaced' && metadata?.namespace
          ? { namespace: metadata.namespace, name: owner.name }
          : { name: owner.name };
      // An owner that is not there, or is another object of the same name, is not concerned.
      const primary = primaries.get(key) as { metadata?: ObjectMeta } | undefined;
      if (primary === undefined) continue;
      if (primary.metadata?.uid === undefined || primary.metadata.uid === owner.uid) keys.add(keyString(key));
    }
    const cause: Cause = { by: 'owner', ...objectCause(source, event) };
    for (const key of keys) this.#options.queue.add(key, { cause, priority: priorityOf(event) });
  }

  #onWatched(source: Source, informer: Informer<unknown>, event: InformerEvent<unknown>): void {
    if (!this.#passes(source, event)) return;
    const cause: Cause = { by: 'map', ...objectCause(source, event) };
    for (const key of this.#mapped(source, informer, event)) {
      this.#options.queue.add(key, { cause, priority: priorityOf(event) });
    }
  }

  #mapped(source: Source, informer: Informer<unknown>, event: InformerEvent<unknown>): Set<string> {
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

  /** A predicate only saves work: where it throws, the event counts. */
  #passes(source: Source, event: InformerEvent<unknown>): boolean {
    try {
      return source.when({ previous: event.previous, current: event.current });
    } catch (error) {
      const level = this.#badPredicates.has(source.name) ? 'debug' : 'error';
      this.#badPredicates.add(source.name);
      this.#options.metrics.mapFailed();
      this.#options.log[level]('a predicate threw, the event counts', { ...objectCause(source, event), error });
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

/** Versions of a kind differ, its group does not: an owner reference may name an older one. */
function controllerOf(metadata: ObjectMeta | undefined, kind: Resource): OwnerReference | undefined {
  return metadata?.ownerReferences?.find(
    (owner) =>
      owner.controller === true && owner.kind === kind.kind && parseApiVersion(owner.apiVersion).group === kind.group,
  );
}
