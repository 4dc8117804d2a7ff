import { setMaxListeners } from 'node:events';
import type { Resource } from '@bowline/kubernetes';
import { type Clock, type Random, untilAborted } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import type { Client } from '@bowline/runtime/client';
import { GarbageCollector } from './garbage-collector/garbage-collector.ts';
import { TerminatingNamespaces } from './namespaces/terminating-namespaces.ts';
import { type ApiKinds, readApiKinds } from './objects/api-kinds.ts';
import type { ObjectFacts } from './objects/object-facts.ts';
import { ObjectMonitors, type ObjectObserver } from './objects/object-monitors.ts';

/** EveryObjectOptions holds the dependencies of the controllers that handle objects of every kind. */
export interface EveryObjectOptions {
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
const BEGIN_AFTER_MS = 50;
/** A definition is served shortly after it reports so; several often arrive together. */
const KINDS_SETTLE_MS = 100;
/** Servers send events about new definitions before discovery lists them as served. */
const KINDS_SOON_MS = 1_000;
/** The fallback interval, in case a kind was added or removed without an event. */
const KINDS_AGAIN_MS = 30_000;
/** A kind that cannot be listed must not block the work on the others. */
const SYNC_TIMEOUT_MS = 30_000;

/**
 * EveryObject collects garbage and empties namespaces. This work concerns objects of every kind, whether known
 * beforehand or not, so it uses the runtime's parts instead of declared sources.
 */
export class EveryObject implements ObjectObserver {
  readonly #options: EveryObjectOptions;
  readonly #collector: GarbageCollector;
  readonly #namespaces: TerminatingNamespaces;
  readonly #monitors: ObjectMonitors;
  #kinds: ApiKinds | undefined;
  /** Whether kinds were added or removed since the last discovery. */
  #isStale = false;
  #wake: () => void = () => undefined;

  constructor(options: EveryObjectOptions) {
    this.#options = options;
    const find: ApiKinds['find'] = (apiVersion, kind) => this.#kinds?.find(apiVersion, kind);
    this.#collector = new GarbageCollector({ ...options, find });
    this.#namespaces = new TerminatingNamespaces({ ...options, kinds: (signal) => this.#readKinds(signal) });
    this.#monitors = new ObjectMonitors({ ...options, observer: this });
  }

  seen(resource: Resource, facts: ObjectFacts): void {
    this.#collector.seen(resource, facts);
    this.#namespaces.seen(resource, facts);
    if (definesKinds(resource)) this.#kindsMayHaveChanged();
  }

  gone(resource: Resource, facts: ObjectFacts): void {
    this.#collector.gone(resource, facts);
    this.#namespaces.gone(resource, facts);
    if (definesKinds(resource)) this.#kindsMayHaveChanged();
  }

  knows(uid: string): boolean {
    return this.#collector.knows(uid);
  }

  complete(resource: Resource, uids: ReadonlySet<string>): void {
    this.#collector.complete(resource, uids);
  }

  /** run works until the signal is aborted, and resolves when everything has stopped. */
  async run(signal: AbortSignal): Promise<void> {
    const { wire } = this.#options;
    const stop = new AbortController();
    const within = AbortSignal.any([signal, stop.signal]);
    setMaxListeners(0, within);
    try {
      await wire.sleep(BEGIN_AFTER_MS, within).catch(() => undefined);
      if (within.aborted) return;
      await this.#readKinds(within);
      const followed = this.#followKinds(within);
      const limit = new AbortController();
      using _timer = wire.setTimer(SYNC_TIMEOUT_MS, () => limit.abort());
      const collecting = this.#monitors
        .synced(AbortSignal.any([within, limit.signal]))
        .then(() => this.#collector.run(within));
      await Promise.all([followed, collecting, this.#namespaces.run(within), untilAborted(within)]);
    } finally {
      stop.abort();
      await this.#monitors.stop();
    }
  }

  async #followKinds(signal: AbortSignal): Promise<void> {
    const { wire, log } = this.#options;
    let againMs = KINDS_AGAIN_MS;
    while (!signal.aborted) {
      if (!this.#isStale) {
        const changed = new AbortController();
        this.#wake = () => changed.abort();
        await wire.sleep(againMs, AbortSignal.any([signal, changed.signal])).catch(() => undefined);
      }
      againMs = this.#isStale ? KINDS_SOON_MS : KINDS_AGAIN_MS;
      this.#isStale = false;
      await wire.sleep(KINDS_SETTLE_MS, signal).catch(() => undefined);
      if (signal.aborted) return;
      await this.#readKinds(signal).catch((error: unknown) => {
        if (!signal.aborted) log.warn('cannot read the kinds that the server serves', { error });
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
