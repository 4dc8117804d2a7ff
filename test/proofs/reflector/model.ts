import { ConfigMap, keyString, type ObjectMeta } from '@bowline/kubernetes';
import { between, integerBelow, pick, type Random, seededRandom, VirtualClock } from '@bowline/machinery';
import { project } from '@bowline/runtime';
import { Cache, type Informer } from '@bowline/runtime/cache';
import { type Client, createClient, type Transport } from '@bowline/runtime/client';
import type { NamespacedKey, StoredObject } from '../../../packages/runtime/src/cache/history.test-support.ts';
import { WatchServer } from '../../../packages/runtime/src/cache/watch-server.test-support.ts';
import { FaultPlan } from './faults.ts';
import { type Identity, InvariantChecker } from './invariants.ts';

const NAMESPACES = ['a', 'b', 'c'];
const KEYS: readonly NamespacedKey[] = NAMESPACES.flatMap((namespace) =>
  ['x', 'y', 'z'].map((name) => ({ namespace, name })),
);
/**
 * How far a write moves the version, by how often the history has gone back. An old history cannot be distinguished from a new
 * one that has grown past it, so each one grows in steps that together are smaller than one step of the previous one.
 */
const STEPS = [1e12, 1e9, 1e6, 1e3];
/** Enough for the slowest recovery: a half-open connection is detected after 70 s, then a backoff of at most 30 s. */
const SETTLE_MS = 240_000;

/** Tamper breaks a part on purpose, to show that the model detects it. */
export interface Tamper {
  readonly transport?: (transport: Transport) => Transport;
  /** Responses of own writes do not reach the cache. */
  readonly forgetOwnWrites?: boolean;
  readonly client?: (client: Client) => Pick<Client, 'list' | 'watch'>;
}

/** CaseResult is the result of one seed. */
export interface CaseResult {
  readonly violations: readonly string[];
  readonly writes: number;
  readonly events: number;
  readonly requests: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly relists: number;
  readonly rewinds: number;
}

interface Watched {
  readonly informer: Informer<unknown>;
  readonly checker: InvariantChecker<unknown>;
  readonly inScope: (object: StoredObject) => boolean;
  readonly version: (value: unknown) => string | undefined;
  readonly index: { readonly name: string; readonly valuesOf: (value: unknown) => readonly string[] };
}

/** runCase runs one seed: random writes and faults, then calm, then the checks. */
export async function runCase(seed: number, tamper: Tamper = {}): Promise<CaseResult> {
  const world = new World(seed, tamper);
  await world.play();
  return world.result();
}

class World {
  readonly #random: Random;
  readonly #clock = new VirtualClock();
  readonly #server: WatchServer;
  readonly #faults: FaultPlan;
  readonly #cache: Cache;
  readonly #watched: Watched[] = [];
  readonly #violations: string[] = [];
  readonly #stop = new AbortController();
  readonly #forgetOwnWrites: boolean;
  #writes = 0;
  #rewinds = 0;

  constructor(seed: number, tamper: Tamper) {
    this.#forgetOwnWrites = tamper.forgetOwnWrites ?? false;
    this.#random = seededRandom(seed);
    this.#server = new WatchServer({ wire: this.#clock, random: this.#random });
    this.#faults = new FaultPlan(this.#server, this.#clock, this.#random, () => this.#step());
    const client = createClient({
      transport: tamper.transport?.(this.#server) ?? this.#server,
      clock: this.#clock,
      wire: this.#clock,
      random: this.#random,
    });
    this.#cache = new Cache({
      client: tamper.client?.(client) ?? client,
      clock: this.#clock,
      wire: this.#clock,
      random: this.#random,
      freeze: true,
    });
  }

  async play(): Promise<void> {
    for (let count = integerBelow(this.#random, 6); count > 0; count--) this.#write();
    this.#watch();
    const running = this.#cache.run(this.#stop.signal);
    const steps = 20 + integerBelow(this.#random, 40);
    for (let step = 0; step < steps; step++) {
      this.#act();
      await this.#clock.advance(this.#pause());
      for (const { checker, index } of this.#watched) checker.readAll(KEYS, index);
    }
    await this.#settle();
    this.#stop.abort();
    await this.#clock.advance(0);
    await running;
    await this.#checkStopped();
  }

  /** Everything, one label, two namespaces: each through another view. */
  #watch(): void {
    const everything = this.#cache.informer(ConfigMap);
    this.#add(
      everything,
      (object) => object.metadata ?? {},
      () => true,
    );
    if (this.#random.next() < 0.5) {
      const labelled = this.#cache.informer(ConfigMap, { view: 'metadata', labelSelector: 'colour=red' });
      this.#add(
        labelled,
        ({ metadata }) => metadata,
        ({ metadata }) => metadata.labels?.colour === 'red',
      );
    }
    if (this.#random.next() < 0.5) {
      const some = this.#cache.informer(ConfigMap, { view: versions, namespaces: ['a', 'b'] });
      this.#add(
        some,
        ({ metadata }) => metadata,
        ({ metadata }) => metadata.namespace !== 'c',
      );
    }
  }

  #add<V>(informer: Informer<V>, metadata: (value: V) => ObjectMeta, inScope: (object: StoredObject) => boolean): void {
    const index = { name: 'colour', valuesOf: (value: V) => [metadata(value).labels?.colour ?? 'none'] };
    informer.addIndex(index.name, index.valuesOf);
    const checker = new InvariantChecker({
      informer,
      metadata,
      report: (message) => this.#violations.push(message),
      serverRewinds: () => this.#rewinds,
    });
    // Kept without their type: from here on a value is only passed back to the functions above.
    const version = (value: V): string | undefined => metadata(value).resourceVersion;
    this.#watched.push({ informer, checker, inScope, index, version } as unknown as Watched);
  }

  #pause(): number {
    const chance = this.#random.next();
    if (chance < 0.4) return 0;
    if (chance < 0.8) return between(this.#random, 1, 3_000);
    return between(this.#random, 3_000, 90_000);
  }

  #act(): void {
    const chance = this.#random.next();
    if (chance < 0.45) this.#write();
    else if (chance < 0.6) this.#ownWrite();
    else if (chance < 0.63) this.#server.history.touch(this.#step());
    else if (chance < 0.66) this.#restore();
    else this.#faults.strike();
  }

  #write(): StoredObject | undefined {
    if (!this.#server.served) return undefined;
    this.#writes++;
    const key = pick(this.#random, KEYS);
    const step = this.#step();
    if (this.#random.next() < 0.3) return this.#server.remove(key, step);
    const colour = pick(this.#random, ['red', 'blue']);
    return this.#server.put(key, { labels: { colour }, data: { n: String(this.#writes) } }, step);
  }

  /** A write of the process itself: its response reaches the cache later, before or after its watch event. */
  #ownWrite(): void {
    const before = new Map(this.#server.history.at(this.#server.history.current));
    const era = this.#rewinds;
    const object = this.#write();
    if (!object) return;
    const { namespace, name, uid, resourceVersion } = object.metadata;
    const deleted = before.get(keyString(object.metadata)) === object;
    const record = (): void => {
      // The response of a write that a restored server has lost belongs to no history any more.
      if (era !== this.#rewinds || !this.#server.served) return;
      if (!this.#forgetOwnWrites) {
        if (deleted) this.#cache.recordDelete(ConfigMap, { namespace, name }, { uid, resourceVersion });
        else this.#cache.recordWrite(ConfigMap, structuredClone(object));
      }
      this.#checkOwnWrite(object, deleted);
    };
    if (this.#random.next() < 0.5) record();
    else this.#clock.setTimer(between(this.#random, 0, 2_000), record);
  }

  /** Unless another client has written since, a read returns an own write from the moment of its response. */
  #checkOwnWrite({ metadata }: StoredObject, deleted: boolean): void {
    const key = keyString(metadata);
    const last = this.#server.history.since(0).findLast(({ after }) => keyString(after.metadata) === key);
    const isLast = last && last.deleted === deleted && last.after.metadata.uid === metadata.uid;
    // An informer that has not yet detected that the history went back cannot place a write of the new one.
    if (this.#rewinds > 0 || !isLast) return;
    const now = this.#server.history.get(metadata)?.metadata.resourceVersion;
    if (!deleted && now !== metadata.resourceVersion) return;
    for (const { informer, inScope, version } of this.#watched) {
      const value = informer.get(metadata);
      const state = this.#server.history.get(metadata);
      const expected = state && inScope(state) ? now : undefined;
      const read = value === undefined ? undefined : version(value);
      if (read !== expected) {
        this.#violations.push(
          `own ${deleted ? 'deletion' : 'write'} of ${keyString(metadata)} is read as ${read}, not ${expected}`,
        );
      }
    }
  }

  #step(): number {
    return (STEPS[this.#rewinds] ?? 1) + integerBelow(this.#random, 3);
  }

  /** An etcd restored from a backup: the last few changes have never happened. */
  #restore(): void {
    const { history } = this.#server;
    if (!this.#server.served || this.#rewinds + 1 >= STEPS.length) return;
    const kept = history.since(0).at(-2 - integerBelow(this.#random, 8));
    if (!kept) return;
    this.#faults.count('restore');
    this.#rewinds++;
    this.#server.restore(kept.version);
  }

  async #settle(): Promise<void> {
    this.#faults.stop();
    this.#write();
    await this.#clock.advance(SETTLE_MS);
    for (const { checker, index } of this.#watched) checker.readAll(KEYS, index);
    const state = [...this.#server.history.at(this.#server.history.current)];
    for (const { checker, inScope, informer } of this.#watched) {
      const expected = state.filter(([, object]) => inScope(object));
      checker.settled(new Map(expected.map(([key, object]) => [key, identityOf(object)])));
      const claimed = informer.health().rewinds;
      const possible = this.#rewinds * (informer.health().namespaces?.length ?? 1);
      if (claimed > possible) this.#violations.push(`${claimed} rewinds were reported, ${possible} were possible`);
    }
  }

  async #checkStopped(): Promise<void> {
    const before = this.#server.requests.length;
    await this.#clock.advance(120_000);
    if (this.#server.requests.length > before) this.#violations.push('a stopped cache made a request');
    if (this.#server.watches.size > 0) this.#violations.push('a stopped cache left a watch open');
    if (this.#clock.pendingTimers > 0) this.#violations.push('a stopped cache left a timer');
  }

  result(): CaseResult {
    const health = this.#cache.health();
    return {
      violations: this.#violations,
      writes: this.#writes,
      events: this.#watched.reduce((total, { checker }) => total + checker.eventCount, 0),
      requests: this.#server.requests.length,
      faults: this.#faults.counts,
      relists: health.reduce((total, each) => total + each.relists, 0),
      rewinds: health.reduce((total, each) => total + each.rewinds, 0),
    };
  }
}

/** A projection to what the checker needs, as operators project to a content hash. */
const versions = project((object: ConfigMap) => ({
  metadata: {
    name: object.metadata?.name ?? '',
    namespace: object.metadata?.namespace ?? '',
    uid: object.metadata?.uid ?? '',
    resourceVersion: object.metadata?.resourceVersion ?? '',
    labels: object.metadata?.labels ?? {},
  },
}));

function identityOf(object: StoredObject): Identity {
  return { uid: object.metadata.uid, version: object.metadata.resourceVersion };
}
