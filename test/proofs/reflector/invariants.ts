import { keyString, type ObjectKey, type ObjectMeta } from '@bowline/kubernetes';
import { compareResourceVersions } from '@bowline/machinery';
import type { Informer, InformerEvent } from '@bowline/runtime/cache';

/** Identity holds what objects are compared by. */
export interface Identity {
  readonly uid: string;
  readonly version: string;
}

/** InvariantOptions connects a checker to an informer. It does not depend on the server, so it works with a real one too. */
export interface InvariantOptions<V> {
  readonly informer: Informer<V>;
  /** Returns the metadata of a read. */
  readonly metadata: (value: V) => ObjectMeta;
  /** Called with every violation. */
  readonly report: (message: string) => void;
  /** Returns how often the server's history has really gone back so far. Defaults to never. */
  readonly serverRewinds?: () => number;
}

interface Observed {
  /** The current identity; undefined if there is none. */
  now: Identity | undefined;
  /** The newest version ever observed, including deleted objects. */
  floor: string;
}

/**
 * InvariantChecker follows the events and reads of one informer and reports violations: a version older than an observed one, a
 * deleted object that reappears, inconsistent events, lists and indexes that disagree with single reads, and a final state that
 * differs from the server's.
 */
export class InvariantChecker<V> implements Disposable {
  readonly #options: InvariantOptions<V>;
  readonly #subscription: Disposable;
  /**
   * What events and reads have returned, by key; a read may be ahead of the events because of own writes, but never behind
   * itself.
   */
  readonly #events = new Map<string, Observed>();
  readonly #reads = new Map<string, Observed>();
  /** How many of the server's rewinds each watch has used to start over. */
  readonly #rewindsUsed = new Map<string, number>();
  #count = 0;

  constructor(options: InvariantOptions<V>) {
    this.#options = options;
    this.#subscription = options.informer.subscribe((event) => this.#event(event));
  }

  /** eventCount returns how many events were checked. */
  get eventCount(): number {
    return this.#count;
  }

  #event(event: InformerEvent<V>): void {
    this.#count++;
    const name = keyString(event.key);
    const identity = identityOf(event.metadata);
    const known = this.#events.get(name);
    if (event.type === 'delete') {
      if (!known?.now) this.#report(`delete of ${name}, which did not exist`);
      // An object missing at a relist is reported with its last known version, which is not new.
      this.#show(this.#events, 'events', name, undefined, event.stale ? undefined : identity.version);
      return;
    }
    if (event.current === undefined) this.#report(`${event.type} of ${name} without a current object`);
    else if (identityOf(this.#options.metadata(event.current)).version !== identity.version) {
      this.#report(`${event.type} of ${name} whose object and metadata differ`);
    }
    if (event.type === 'add' && known?.now) this.#report(`add of ${name}, which existed`);
    if (event.type === 'update') this.#checkPrevious(name, known?.now, event);
    this.#show(this.#events, 'events', name, identity, identity.version);
  }

  #checkPrevious(name: string, known: Identity | undefined, event: InformerEvent<V>): void {
    const previous = event.previous && identityOf(this.#options.metadata(event.previous));
    if (!known || !previous) this.#report(`update of ${name}, which did not exist`);
    else if (known.version !== previous.version) {
      this.#report(`update of ${name} from ${previous.version}, but ${known.version} was reported last`);
    } else if (known.uid !== event.metadata.uid) this.#report(`update of ${name} from one uid to another`);
  }

  /** readAll reads every key and checks that no read goes back, and that lists and indexes agree. */
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

  /** settled checks the state after everything has settled: events, reads and the server must agree. */
  settled(expected: ReadonlyMap<string, Identity>): void {
    const { informer, metadata } = this.#options;
    const stored = new Map(
      informer.list().map((value) => [keyString(keyIn(metadata(value))), identityOf(metadata(value))]),
    );
    const reported = new Map([...this.#events].flatMap(([name, { now }]) => (now ? [[name, now] as const] : [])));
    this.#compare('the store', stored, expected);
    this.#compare('the events', reported, expected);
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
      if (!expected.has(name)) this.#report(`${what} still has ${name}, but the server does not`);
    }
  }

  #show(
    observed: Map<string, Observed>,
    where: 'events' | 'reads',
    name: string,
    now: Identity | undefined,
    version: string | undefined,
  ): void {
    const known = observed.get(name);
    if (known && version !== undefined && this.#goesBack(known, now, version) && !this.#startsOver(where, name)) {
      const what = now === undefined ? 'its deletion' : `${now.uid} at ${version}`;
      const before = known.now ? 'observed' : 'observed and deleted';
      this.#report(`${where}: ${name} reports ${what} after ${known.floor} was ${before}`);
    }
    observed.set(name, { now, floor: version ?? known?.floor ?? '' });
  }

  /** After a deletion only something newer may appear; otherwise nothing older. The same version twice is allowed. */
  #goesBack(known: Observed, now: Identity | undefined, version: string): boolean {
    if (known.floor === '') return false;
    const order = compareResourceVersions(version, known.floor) ?? 0;
    const returns = known.now === undefined && now !== undefined;
    return returns ? order <= 0 : order < 0;
  }

  /** Each time the server's history went back, everything that one watch has reported may start over once. */
  #startsOver(where: 'events' | 'reads', name: string): boolean {
    const namespaced = this.#options.informer.health().namespaces !== undefined;
    const prefix = namespaced ? name.slice(0, name.indexOf('/') + 1) : '';
    const rewinds = this.#options.serverRewinds?.() ?? 0;
    const id = `${where} ${prefix}`;
    if (rewinds <= (this.#rewindsUsed.get(id) ?? 0)) return false;
    this.#rewindsUsed.set(id, rewinds);
    for (const [each, observed] of where === 'events' ? this.#events : this.#reads) {
      if (each.startsWith(prefix)) observed.floor = '';
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
