import { between, integerBelow, pick, type Random, type VirtualClock } from '@bowline/machinery';
import type { ServerWatch } from '../../../packages/runtime/src/cache/server-watch.test-support.ts';
import {
  type ReceivedRequest,
  type ScriptedResponse,
  statusOf,
  type WatchServer,
} from '../../../packages/runtime/src/cache/watch-server.test-support.ts';

/** A period during which requests may hit a fault. */
interface FaultPeriod {
  readonly until: number;
  readonly probability: number;
  readonly response: (seen: ReceivedRequest) => ScriptedResponse | undefined;
}

/** Longer outages only add time; no response of a write is remembered for more than five minutes anyway. */
const MAX_PERIOD_MS = 40_000;
/** Shorter than the time after which a kind counts as vanished. */
const MAX_ABSENCE_MS = 4_000;

/** FaultPlan injects faults of networks, proxies and servers into a server. */
export class FaultPlan {
  /** How often each fault was injected. */
  readonly counts: Record<string, number> = {};
  readonly #server: WatchServer;
  readonly #clock: VirtualClock;
  readonly #random: Random;
  /** How far a write moves the version. */
  readonly #step: () => number;
  #period: FaultPeriod | undefined;
  #stopped = false;

  constructor(server: WatchServer, clock: VirtualClock, random: Random, step: () => number) {
    this.#step = step;
    this.#server = server;
    this.#clock = clock;
    this.#random = random;
    server.script = (seen) => this.#respond(seen);
  }

  /** count records a fault. */
  count(name: string): void {
    this.counts[name] = (this.counts[name] ?? 0) + 1;
  }

  /** strike injects one random fault. */
  strike(): void {
    const [name, fault] = pick(this.#random, Object.entries(this.#catalogue));
    this.count(name);
    fault();
  }

  /** stop ends every fault: hanging connections are cut, as they would be eventually. */
  stop(): void {
    this.#stopped = true;
    this.#period = undefined;
    this.#server.served = true;
    this.#server.watchList = 'supported';
    this.#server.endsInitialState = true;
    this.#server.lags = false;
    for (const watch of this.#server.watches) watch.resume();
  }

  readonly #catalogue: Readonly<Record<string, () => void>> = {
    drop: () => this.#onWatches((watch) => watch.cut()),
    close: () => this.#onWatches((watch) => watch.close()),
    truncate: () => this.#onWatches((watch) => watch.spoilNext('truncate')),
    garble: () => this.#onWatches((watch) => watch.spoilNext('garble')),
    table: () =>
      this.#onWatches((watch) =>
        watch.raw('{"type":"ADDED","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{}}}\n'),
      ),
    'half-open': () => this.#onWatches((watch) => watch.freeze()),
    'duplicate bookmark': () => this.#onWatches((watch) => watch.repeatBookmark()),
    bookmark: () => this.#server.bookmark(),
    stall: () =>
      this.#onWatches((watch) => {
        watch.stall();
        this.#clock.setTimer(between(this.#random, 100, 30_000), () => watch.resume());
      }),
    'error event': () => {
      const code = pick(this.#random, [410, 500]);
      this.#onWatches((watch) => watch.error(statusOf(code, code === 410 ? 'Expired' : 'InternalError')));
    },
    compaction: () => {
      this.#server.history.compact(this.#server.history.current - integerBelow(this.#random, 3));
      this.#server.errorsInStream = this.#random.next() < 0.5;
    },
    restart: () => {
      for (const watch of [...this.#server.watches]) watch.cut('the server stopped');
      this.#begin(1, () => 'refuse');
    },
    '500': () => this.#begin(0.6, () => ({ status: 500 })),
    '503': () => this.#begin(0.8, () => ({ status: 503 })),
    '409': () => this.#begin(0.5, () => ({ status: 409, body: statusOf(409, 'Conflict') })),
    '410': () => this.#begin(0.5, () => ({ status: 410, body: statusOf(410, 'Expired') })),
    '429': () => this.#begin(0.7, () => ({ status: 429, headers: { 'retry-after': '2' } })),
    hang: () => this.#begin(0.4, () => 'hang'),
    'watch list refused': () => {
      this.#server.watchList = pick(this.#random, ['refused', 'ignored', 'supported'] as const);
    },
    'end bookmark missing': () => {
      this.#server.endsInitialState = false;
      this.#clock.setTimer(between(this.#random, 1_000, 60_000), () => {
        this.#server.endsInitialState = true;
      });
    },
    'lagging replica': () => {
      this.#server.lags = !this.#server.lags;
    },
    'kind absent for a moment': () => {
      this.#server.served = false;
      for (const watch of [...this.#server.watches]) watch.close();
      this.#clock.setTimer(between(this.#random, 100, MAX_ABSENCE_MS), () => {
        this.#server.served = true;
      });
    },
    'definition deleted': () => this.#deleteDefinition(),
  };

  /** With its definition every object of a kind is deleted; watches may or may not be notified of that. */
  #deleteDefinition(): void {
    if (this.#random.next() < 0.5) for (const watch of [...this.#server.watches]) watch.cut();
    for (const { metadata } of this.#server.history.at(this.#server.history.current).values())
      this.#server.remove(metadata, this.#step());
    for (const watch of [...this.#server.watches]) watch.close();
    this.#server.served = false;
    this.#clock.setTimer(between(this.#random, 1_000, 60_000), () => {
      this.#server.served = true;
    });
  }

  #onWatches(fault: (watch: ServerWatch) => void): void {
    const all = [...this.#server.watches];
    if (all.length === 0) return;
    for (const watch of this.#random.next() < 0.5 ? all : [pick(this.#random, all)]) fault(watch);
  }

  #begin(probability: number, response: (seen: ReceivedRequest) => ScriptedResponse): void {
    this.#period = { until: this.#clock.monotonic() + between(this.#random, 0, MAX_PERIOD_MS), probability, response };
  }

  #respond(seen: ReceivedRequest): ScriptedResponse | undefined {
    if (this.#stopped || !this.#period || this.#clock.monotonic() > this.#period.until) return undefined;
    return this.#random.next() < this.#period.probability ? this.#period.response(seen) : undefined;
  }
}
