import type { KubernetesObject, Resource } from '@bowline/kubernetes';
import type { Clock, Random } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import { Reflector, type ReflectorTarget, type Snapshot } from '@bowline/runtime/cache';
import type { Client } from '@bowline/runtime/client';
import { factsOf, type ObjectFacts } from './object-facts.ts';

/** ObjectObserver is notified about the objects of every kind. */
export interface ObjectObserver {
  /** upserted reports the state of an object, old or new. */
  upserted(resource: Resource, facts: ObjectFacts): void;
  /** deleted reports that an object is deleted. */
  deleted(resource: Resource, facts: ObjectFacts): void;
  /** isTracked reports whether the observer keeps an object, and so must be notified of every state of it. */
  isTracked(uid: string): boolean;
  /** listed reports the uids of all objects of a kind, after a list. */
  listed(resource: Resource, uids: ReadonlySet<string>): void;
}

/** ObjectMonitorsOptions holds the client to watch with and the observer to notify. */
export interface ObjectMonitorsOptions {
  readonly client: Pick<Client, 'list' | 'watch'>;
  readonly observer: ObjectObserver;
  readonly wire: Clock;
  readonly random: Random;
  readonly log: Log;
}

interface Monitor {
  readonly resource: Resource;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
  readonly isSynced: () => boolean;
}

/** ObjectMonitors watches the metadata of any set of kinds. It stores nothing: the observer keeps what it needs. */
export class ObjectMonitors {
  readonly #options: ObjectMonitorsOptions;
  readonly #monitors = new Map<string, Monitor>();
  readonly #ending = new Set<Promise<void>>();
  readonly #waiting = new Set<() => void>();

  constructor(options: ObjectMonitorsOptions) {
    this.#options = options;
  }

  /** watch watches exactly these kinds from now on. The objects of omitted kinds count as gone. */
  watch(kinds: readonly Resource[]): void {
    const wanted = new Map(kinds.map((kind) => [kind.id, kind]));
    for (const [id, monitor] of this.#monitors) {
      if (wanted.has(id)) continue;
      this.#monitors.delete(id);
      monitor.stop.abort();
    }
    for (const [id, kind] of wanted) if (!this.#monitors.has(id)) this.#monitors.set(id, this.#start(kind));
    this.#notifySynced();
  }

  get isSynced(): boolean {
    return [...this.#monitors.values()].every(({ isSynced }) => isSynced());
  }

  /** synced resolves when the initial state of every watched kind is known, or at the latest when the signal aborts. */
  async synced(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !this.isSynced) {
      await new Promise<void>((resolve) => {
        const done = (): void => {
          this.#waiting.delete(done);
          signal.removeEventListener('abort', done);
          resolve();
        };
        this.#waiting.add(done);
        signal.addEventListener('abort', done, { once: true });
      });
    }
  }

  /** stop ends every watch and resolves when none is left. */
  async stop(): Promise<void> {
    for (const { stop } of this.#monitors.values()) stop.abort();
    this.#monitors.clear();
    while (this.#ending.size > 0) await Promise.all(this.#ending);
  }

  #start(resource: Resource): Monitor {
    const { client, observer, wire, random, log } = this.#options;
    const stop = new AbortController();
    let isSynced = false;
    const reflector = new Reflector({
      // The descriptor comes from discovery, which has no static type.
      resource: resource as Resource<KubernetesObject>,
      client,
      scope: { metadataOnly: true },
      target: new ObserverTarget(resource, observer),
      wire,
      random,
      log,
      onSynced: () => {
        isSynced = true;
        this.#notifySynced();
      },
    });
    const ended = reflector
      .run(stop.signal)
      .catch((error: unknown) => {
        // Reflectors survive errors of the server and the network; if one still ends, the other kinds remain useful.
        log.error('metadata watch ended', { kind: resource.kind, error });
      })
      .then(() => {
        this.#ending.delete(ended);
        if (!this.#watches(resource)) observer.listed(resource, new Set());
      });
    this.#ending.add(ended);
    return { resource, stop, ended, isSynced: () => isSynced };
  }

  /** A kind whose preferred version has changed is watched in the new version: its objects still exist. */
  #watches({ group, kind }: Resource): boolean {
    return [...this.#monitors.values()].some(({ resource }) => resource.group === group && resource.kind === kind);
  }

  #notifySynced(): void {
    if (this.isSynced) for (const resolve of [...this.#waiting]) resolve();
  }
}

/** ObserverTarget passes what a reflector sees to the observer. */
class ObserverTarget implements ReflectorTarget {
  readonly #resource: Resource;
  readonly #observer: ObjectObserver;

  constructor(resource: Resource, observer: ObjectObserver) {
    this.#resource = resource;
    this.#observer = observer;
  }

  begin(): FactsSnapshot {
    return new FactsSnapshot((uid) => this.#observer.isTracked(uid));
  }

  commit(snapshot: Snapshot): Promise<void> {
    if (!(snapshot instanceof FactsSnapshot)) throw new TypeError('the snapshot was begun by another target');
    for (const facts of snapshot.notable.values()) this.#observer.upserted(this.#resource, facts);
    this.#observer.listed(this.#resource, snapshot.uids);
    return Promise.resolve();
  }

  recordNewest(): void {
    // Nothing is stored here that could be ahead of the server.
  }

  upsert({ metadata = {} }: KubernetesObject): void {
    this.#observer.upserted(this.#resource, factsOf(metadata));
  }

  remove({ metadata = {} }: KubernetesObject): void {
    this.#observer.deleted(this.#resource, factsOf(metadata));
  }

  flush(): Promise<void> {
    return Promise.resolve();
  }

  removeAll(): Promise<void> {
    this.#observer.listed(this.#resource, new Set());
    return Promise.resolve();
  }
}

/**
 * FactsSnapshot keeps the facts of objects that are tracked, have owners or are being deleted, and the existence of all
 * others.
 */
class FactsSnapshot implements Snapshot {
  readonly uids = new Set<string>();
  readonly notable = new Map<string, ObjectFacts>();
  readonly #isTracked: (uid: string) => boolean;

  constructor(isTracked: (uid: string) => boolean) {
    this.#isTracked = isTracked;
  }

  add({ metadata = {} }: KubernetesObject): void {
    const facts = factsOf(metadata);
    this.uids.add(facts.uid);
    const isNotable = facts.owners.length > 0 || facts.isDeleting || this.#isTracked(facts.uid);
    if (isNotable) this.notable.set(facts.uid, facts);
    else this.notable.delete(facts.uid);
  }

  remove({ metadata = {} }: KubernetesObject): void {
    this.uids.delete(metadata.uid ?? '');
    this.notable.delete(metadata.uid ?? '');
  }

  clear(): void {
    this.uids.clear();
    this.notable.clear();
  }
}
