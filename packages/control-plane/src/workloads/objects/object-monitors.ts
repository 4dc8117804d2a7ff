import type { KubernetesObject, Resource } from '@bowline/kubernetes';
import type { Clock, Random } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import { Reflector, type ReflectorTarget, type Snapshot } from '@bowline/runtime/cache';
import type { Client } from '@bowline/runtime/client';
import { factsOf, type ObjectFacts } from './object-facts.ts';

/** ObjectObserver is told about the objects of every kind. */
export interface ObjectObserver {
  /** seen tells the state of an object, old or new. */
  seen(resource: Resource, facts: ObjectFacts): void;
  /** gone tells that an object is deleted. */
  gone(resource: Resource, facts: ObjectFacts): void;
  /** knows is whether the observer remembers something of an object, and so must be told of every state of it. */
  knows(uid: string): boolean;
  /** complete tells the uids of all objects of a kind, after a list. */
  complete(resource: Resource, uids: ReadonlySet<string>): void;
}

/** ObjectMonitorsOptions says whom to ask and whom to tell. */
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

/** ObjectMonitors watches the metadata of any set of kinds. It stores nothing: what matters is the observer's to keep. */
export class ObjectMonitors {
  readonly #options: ObjectMonitorsOptions;
  readonly #monitors = new Map<string, Monitor>();
  readonly #ending = new Set<Promise<void>>();
  readonly #waiting = new Set<() => void>();

  constructor(options: ObjectMonitorsOptions) {
    this.#options = options;
  }

  /** watch watches exactly these kinds from now on. The objects of those that are left out count as gone. */
  watch(kinds: readonly Resource[]): void {
    const wanted = new Map(kinds.map((kind) => [kind.id, kind]));
    for (const [id, monitor] of this.#monitors) {
      if (wanted.has(id)) continue;
      this.#monitors.delete(id);
      monitor.stop.abort();
    }
    for (const [id, kind] of wanted) if (!this.#monitors.has(id)) this.#monitors.set(id, this.#start(kind));
    this.#tellSynced();
  }

  get isSynced(): boolean {
    return [...this.#monitors.values()].every(({ isSynced }) => isSynced());
  }

  /** synced resolves when the first state of every watched kind is known, or at the latest when the signal aborts. */
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
      // The descriptor comes from discovery, which knows no static type.
      resource: resource as Resource<KubernetesObject>,
      client,
      scope: { metadataOnly: true },
      target: new ObserverTarget(resource, observer),
      wire,
      random,
      log,
      onSynced: () => {
        isSynced = true;
        this.#tellSynced();
      },
    });
    const ended = reflector
      .run(stop.signal)
      .catch((error: unknown) => {
        // Reflectors survive the outside world; without this kind the rest is still worth having.
        log.error('a watch of metadata ended', { kind: resource.kind, error });
      })
      .then(() => {
        this.#ending.delete(ended);
        if (!this.#watches(resource)) observer.complete(resource, new Set());
      });
    this.#ending.add(ended);
    return { resource, stop, ended, isSynced: () => isSynced };
  }

  /** A kind whose preferred version has changed is watched in the other one: its objects are still there. */
  #watches({ group, kind }: Resource): boolean {
    return [...this.#monitors.values()].some(({ resource }) => resource.group === group && resource.kind === kind);
  }

  #tellSynced(): void {
    if (this.isSynced) for (const tell of [...this.#waiting]) tell();
  }
}

/** ObserverTarget hands on what a reflector sees. */
class ObserverTarget implements ReflectorTarget {
  readonly #resource: Resource;
  readonly #observer: ObjectObserver;

  constructor(resource: Resource, observer: ObjectObserver) {
    this.#resource = resource;
    this.#observer = observer;
  }

  begin(): FactsSnapshot {
    return new FactsSnapshot((uid) => this.#observer.knows(uid));
  }

  commit(snapshot: Snapshot): Promise<void> {
    if (!(snapshot instanceof FactsSnapshot)) throw new TypeError('the snapshot was begun by another target');
    for (const facts of snapshot.notable.values()) this.#observer.seen(this.#resource, facts);
    this.#observer.complete(this.#resource, snapshot.uids);
    return Promise.resolve();
  }

  proven(): void {
    // Nothing is kept here that could be ahead of the server.
  }

  upsert({ metadata = {} }: KubernetesObject): void {
    this.#observer.seen(this.#resource, factsOf(metadata));
  }

  remove({ metadata = {} }: KubernetesObject): void {
    this.#observer.gone(this.#resource, factsOf(metadata));
  }

  flush(): Promise<void> {
    return Promise.resolve();
  }

  vanished(): Promise<void> {
    this.#observer.complete(this.#resource, new Set());
    return Promise.resolve();
  }
}

/** FactsSnapshot keeps the facts of objects that are known, have owners or are being deleted, and of all others that they exist. */
class FactsSnapshot implements Snapshot {
  readonly uids = new Set<string>();
  readonly notable = new Map<string, ObjectFacts>();
  readonly #isKnown: (uid: string) => boolean;

  constructor(isKnown: (uid: string) => boolean) {
    this.#isKnown = isKnown;
  }

  add({ metadata = {} }: KubernetesObject): void {
    const facts = factsOf(metadata);
    this.uids.add(facts.uid);
    const isNotable = facts.owners.length > 0 || facts.isDeleting || this.#isKnown(facts.uid);
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
