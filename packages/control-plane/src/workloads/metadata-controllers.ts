import { setMaxListeners } from 'node:events';
import type { Resource } from '@bowline/kubernetes';
import { type Clock, type Random, untilAborted } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import type { Client } from '@bowline/runtime/client';
import { GarbageCollector } from './garbage-collector/garbage-collector.ts';
import { NamespaceController } from './namespace/reconcile.ts';
import { type ApiKinds, readApiKinds } from './objects/api-kinds.ts';
import type { ObjectFacts } from './objects/object-facts.ts';
import { ObjectMonitors, type ObjectObserver } from './objects/object-monitors.ts';

/** MetadataControllersOptions holds the dependencies of the controllers that handle objects of every kind. */
export interface MetadataControllersOptions {
  /** A client with full access: the kinds are not known beforehand. */
  readonly client: Client;
  readonly clock: Clock;
  readonly wire: Clock;
  readonly random: Random;
  readonly log: Log;
}

/**
 * The delay before the first discovery: in a control plane that has just started, other work is more urgent, and no
 * garbage exists yet.
 */
const START_DELAY_MS = 50;
/** A definition is served shortly after it reports so; several often arrive together. */
const KINDS_DEBOUNCE_MS = 100;
/** Servers send events about new definitions before discovery lists them as served. */
const KINDS_RECHECK_MS = 1_000;
/** The fallback interval, in case a kind was added or removed without an event. */
const KINDS_RESYNC_MS = 30_000;
/** A kind that cannot be listed must not block the work on the others. */
const SYNC_TIMEOUT_MS = 30_000;

/**
 * MetadataControllers runs the garbage collector and the namespace controller. They watch the metadata of objects of
 * every kind, whether known beforehand or not, so they use the runtime's parts instead of declared sources.
 */
export class MetadataControllers implements ObjectObserver {
  readonly #options: MetadataControllersOptions;
  readonly #collector: GarbageCollector;
  readonly #namespaces: NamespaceController;
  readonly #monitors: ObjectMonitors;
  #kinds: ApiKinds | undefined;
  /** Whether kinds were added or removed since the last discovery. */
  #isStale = false;
  #wake: () => void = () => undefined;

  constructor(options: MetadataControllersOptions) {
    this.#options = options;
    const find: ApiKinds['find'] = (apiVersion, kind) => this.#kinds?.find(apiVersion, kind);
    this.#collector = new GarbageCollector({ ...options, find });
    this.#namespaces = new NamespaceController({ ...options, kinds: (signal) => this.#readKinds(signal) });
    this.#monitors = new ObjectMonitors({ ...options, observer: this });
  }

  upserted(resource: Resource, facts: ObjectFacts): void {
    this.#collector.upserted(resource, facts);
    this.#namespaces.upserted(resource, facts);
    if (definesKinds(resource)) this.#kindsMayHaveChanged();
  }

  deleted(resource: Resource, facts: ObjectFacts): void {
    this.#collector.deleted(resource, facts);
    this.#namespaces.deleted(resource, facts);
    if (definesKinds(resource)) this.#kindsMayHaveChanged();
  }

  isTracked(uid: string): boolean {
    return this.#collector.isTracked(uid);
  }

  listed(resource: Resource, uids: ReadonlySet<string>): void {
    this.#collector.listed(resource, uids);
  }

  /** run works until the signal is aborted, and resolves when everything has stopped. */
  async run(signal: AbortSignal): Promise<void> {
    const { wire } = this.#options;
    const stop = new AbortController();
    const within = AbortSignal.any([signal, stop.signal]);
    setMaxListeners(0, within);
    try {
      await wire.sleep(START_DELAY_MS, within).catch(() => undefined);
      if (within.aborted) return;
      await this.#readKinds(within);
      const following = this.#followKinds(within);
      const limit = new AbortController();
      using _timer = wire.setTimer(SYNC_TIMEOUT_MS, () => limit.abort());
      const collecting = this.#monitors
        .synced(AbortSignal.any([within, limit.signal]))
        .then(() => this.#collector.run(within));
      await Promise.all([following, collecting, this.#namespaces.run(within), untilAborted(within)]);
    } finally {
      stop.abort();
      await this.#monitors.stop();
    }
  }

  async #followKinds(signal: AbortSignal): Promise<void> {
    const { wire, log } = this.#options;
    let againMs = KINDS_RESYNC_MS;
    while (!signal.aborted) {
      if (!this.#isStale) {
        const changed = new AbortController();
        this.#wake = () => changed.abort();
        await wire.sleep(againMs, AbortSignal.any([signal, changed.signal])).catch(() => undefined);
      }
      againMs = this.#isStale ? KINDS_RECHECK_MS : KINDS_RESYNC_MS;
      this.#isStale = false;
      await wire.sleep(KINDS_DEBOUNCE_MS, signal).catch(() => undefined);
      if (signal.aborted) return;
      await this.#readKinds(signal).catch((error: unknown) => {
        if (!signal.aborted) log.warn('cannot discover the kinds that the server serves', { error });
      });
    }
  }

  #kindsMayHaveChanged(): void {
    this.#isStale = true;
    this.#wake();
  }

  /**
   * readKinds reads the served kinds, and watches them. Of two concurrent calls the later response wins, which does no
   * harm.
   */
  async #readKinds(signal: AbortSignal): Promise<ApiKinds> {
    const kinds = await readApiKinds(this.#options.client, signal);
    const before = this.#kinds;
    this.#kinds = kinds;
    this.#monitors.watch(kinds.preferred.filter(isWatched).map(({ resource }) => resource));
    const known = new Set(before?.preferred.map(({ resource }) => resource.id));
    if (kinds.preferred.some(({ resource }) => !known.has(resource.id))) this.#collector.kindsChanged();
    return kinds;
  }
}

function isWatched({ resource: { group, plural }, verbs }: ApiKinds['preferred'][number]): boolean {
  // Events are numerous, have no owner and expire by themselves.
  if (plural === 'events' && (group === '' || group === 'events.k8s.io')) return false;
  return verbs.has('delete') && verbs.has('list') && verbs.has('watch');
}

function definesKinds({ group, plural }: Resource): boolean {
  return (
    (group === 'apiextensions.k8s.io' && plural === 'customresourcedefinitions') ||
    (group === 'apiregistration.k8s.io' && plural === 'apiservices')
  );
}
