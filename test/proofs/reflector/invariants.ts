import { keyString, type ObjectKey, type ObjectMeta } from '@bowline/kubernetes';
import { compareResourceVersions } from '@bowline/machinery';
import type { Informer, InformerEvent } from '@bowline/runtime';

/** Identity is what an object is compared by. */
export interface Identity {
  readonly uid: string;
  readonly version: string;
}

/** InvariantOptions connects a checker with an informer. It knows nothing of the server, so it serves a real one too. */
export interface InvariantOptions<V> {
  readonly informer: Informer<V>;
  /** The metadata of a read. */
  readonly metadata: (value: V) => ObjectMeta;
  /** Told of every violation. */
  readonly report: (message: string) => void;
  /** How often the server's history has really gone back so far. Defaults to never. */
  readonly serverRewinds?: () => number;
}

interface Shown {
  /** What is shown now; undefined when nothing is. */
  now: Identity | undefined;
  /** The newest version ever shown, also of what is gone. */
  floor: string;
}

/**
 * InvariantChecker follows the events and reads of one informer and reports what must never be: a version older than one
 * that was shown, an object that was gone and comes back, events that do not fit together, lists and indexes that do not
 * agree with single reads, and at the end a state that is not the server's.
 */
export class InvariantChecker<V> implements Disposable {
  readonly #options: InvariantOptions<V>;
  readonly #subscription: Disposable;
  /** What events and reads have shown, by key; a read may be ahead of the events, by own writes, but never behind itself. */
  readonly #events = new Map<string, Shown>();
  readonly #reads = new Map<string, Shown>();
  /** How many of the server's rewinds each watch has used up to start over, by what it was noticed in. */
  readonly #rewindsUsed = new Map<string, number>();
  #count = 0;

  constructor(options: InvariantOptions<V>) {
    this.#options = options;
    this.#subscription = options.informer.subscribe((event) => this.#event(event));
  }

  /** eventCount is how many events were checked. */
  get eventCount(): number {
    return this.#count;
  }

  #event(event: InformerEvent<V>): void {
    this.#count++;
    const name = keyString(event.key);
    const identity = identityOf(event.metadata);
    const known = this.#events.get(name);
    if (event.type === 'delete') {
      if (!known?.now) this.#report(`delete of ${name}, which was not there`);
      // What is missed at a relist is told with its last known version, which says nothing new.
      this.#show(this.#events, 'events', name, undefined, event.stale ? undefined : identity.version);
      return;
    }
    if (event.current === undefined) this.#report(`${event.type} of ${name} without a current object`);
    else if (identityOf(this.#options.metadata(event.current)).version !== identity.version) {
      this.#report(`${event.type} of ${name} whose object and metadata differ`);
    }
    if (event.type === 'add' && known?.now) this.#report(`add of ${name}, which was there`);
    if (event.type === 'update') this.#checkPrevious(name, known?.now, event);
    this.#show(this.#events, 'events', name, identity, identity.version);
  }

  #checkPrevious(name: string, known: Identity | undefined, event: InformerEvent<V>): void {
    const previous = event.previous && identityOf(this.#options.metadata(event.previous));
    if (!known || !previous) this.#report(`update of ${name}, which was not there`);
    else if (known.version !== previous.version) {
      this.#report(`update of ${name} from ${previous.version}, but ${known.version} was shown last`);
    } else if (known.uid !== event.metadata.uid) this.#report(`update of ${name} from one uid to another`);
  }

  /** readAll reads every key and checks that no read goes back, and that lists and indexes say the same. */
  readAll(
    keys: readonly ObjectKey[],
    index?: { readonly name: string; readonly valuesOf: (value: V) => readonly string[] },
  ): void {
    const { informer, metadata } = this.#options;
    const byList = new Map(informer.list().map((value) => [keyString(keyIn(metadata(value))), value]));
    for (const key of keys) {
      const name = keyString(key);
      const value = informer.get(key);
      if (byList.get(name) !== value) this.#report(`get and list differ for ${name}`);
      const identity = value === undefined ? undefined : identityOf(metadata(value));
      this.#show(this.#reads, 'reads', name, identity, identity?.version);
    }
    if (index) this.#checkIndex([...byList.values()], index);
  }

  #checkIndex(
    values: readonly V[],
    index: { readonly name: string; readonly valuesOf: (value: V) => readonly string[] },
  ): void {
    const expected = new Map<string, Set<V>>();
    for (const value of values) {
      for (const each of index.valuesOf(value)) expected.set(each, (expected.get(each) ?? new Set()).add(value));
    }
    for (const [each, wanted] of expected) {
      const found = new Set(this.#options.informer.byIndex(index.name, each));
      if (found.size !== wanted.size || [...wanted].some((value) => !found.has(value))) {
        this.#report(`index ${index.name}=${each} has ${found.size} objects, lists have ${wanted.size}`);
      }
    }
  }

  /** settled checks the state after everything has calmed down: events, reads and the server must agree. */
  settled(expected: ReadonlyMap<string, Identity>): void {
    const { informer, metadata } = this.#options;
    const stored = new Map(
      informer.list().map((value) => [keyString(keyIn(metadata(value))), identityOf(metadata(value))]),
    );
    const told = new Map([...this.#events].flatMap(([name, { now }]) => (now ? [[name, now] as const] : [])));
    this.#compare('the store', stored, expected);
    this.#compare('the events', told, expected);
    const { synced, unconfirmedWrites, state } = informer.health();
    if (!synced) this.#report(`the informer is not synced (${state})`);
    if (unconfirmedWrites > 0) this.#report(`${unconfirmedWrites} own writes were never confirmed`);
  }

  #compare(what: string, actual: ReadonlyMap<string, Identity>, expected: ReadonlyMap<string, Identity>): void {
    for (const [name, { uid, version }] of expected) {
      const found = actual.get(name);
      if (!found) this.#report(`${what} misses ${name} (${uid} at ${version})`);
      else if (found.uid !== uid || found.version !== version) {
        this.#report(`${what} has ${name} as ${found.uid} at ${found.version}, the server as ${uid} at ${version}`);
      }
    }
    for (const name of actual.keys()) {
      if (!expected.has(name)) this.#report(`${what} still has ${name}, the server does not`);
    }
  }

  #show(
    shown: Map<string, Shown>,
    where: 'events' | 'reads',
    name: string,
    now: Identity | undefined,
    version: string | undefined,
  ): void {
    const known = shown.get(name);
    if (known && version !== undefined && this.#goesBack(known, now, version) && !this.#startsOver(where, name)) {
      const what = now === undefined ? 'its end' : `${now.uid} at ${version}`;
      const before = known.now ? 'shown' : 'shown and gone';
      this.#report(`${where}: ${name} shows ${what} after ${known.floor} was ${before}`);
    }
    shown.set(name, { now, floor: version ?? known?.floor ?? '' });
  }

  /** Once gone, only something newer may be shown; otherwise nothing older. The same version twice is no step back. */
  #goesBack(known: Shown, now: Identity | undefined, version: string): boolean {
    if (known.floor === '') return false;
    const order = compareResourceVersions(version, known.floor) ?? 0;
    const returns = known.now === undefined && now !== undefined;
    return returns ? order <= 0 : order < 0;
  }

  /** Each time that the server's history went back, everything that one watch has shown may start over once. */
  #startsOver(where: 'events' | 'reads', name: string): boolean {
    const namespaced = this.#options.informer.health().namespaces !== undefined;
    const prefix = namespaced ? name.slice(0, name.indexOf('/') + 1) : '';
    const rewinds = this.#options.serverRewinds?.() ?? 0;
    const id = `${where} ${prefix}`;
    if (rewinds <= (this.#rewindsUsed.get(id) ?? 0)) return false;
    this.#rewindsUsed.set(id, rewinds);
    for (const [each, shown] of where === 'events' ? this.#events : this.#reads) {
      if (each.startsWith(prefix)) shown.floor = '';
    }
    return true;
  }

  #report(message: string): void {
    const { kind, view } = this.#options.informer.health();
    this.#options.report(`${kind} (${view}): ${message}`);
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
  }
}

function identityOf(metadata: ObjectMeta): Identity {
  return { uid: metadata.uid ?? '', version: metadata.resourceVersion ?? '' };
}

function keyIn(metadata: ObjectMeta): ObjectKey {
  return metadata.namespace
    ? { namespace: metadata.namespace, name: metadata.name ?? '' }
    : { name: metadata.name ?? '' };
}
