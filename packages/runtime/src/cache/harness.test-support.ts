import { ConfigMap } from '@bowline/kubernetes';
import { type Random, seededRandom, VirtualClock } from '@bowline/machinery';
import {
  Cache,
  type CacheOptions,
  type Informer,
  type InformerEvent,
  type InformerOptions,
  type View,
  type ViewOf,
} from '@bowline/runtime/cache';
import { createClient } from '@bowline/runtime/client';
import { type ReceivedRequest, WatchServer, type WatchServerOptions } from './watch-server.test-support.ts';

/** HarnessOptions configures a harness. */
export interface HarnessOptions
  extends Omit<WatchServerOptions, 'wire'>,
    Pick<CacheOptions, 'freeze' | 'log' | 'metrics'> {
  /** The random source of jitter. Defaults to seed 1. */
  readonly jitter?: Random;
}

/** Harness is a cache on a scripted server in virtual time. */
export class Harness implements AsyncDisposable {
  readonly clock = new VirtualClock();
  readonly server: WatchServer;
  readonly cache: Cache;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: HarnessOptions = {}) {
    this.server = new WatchServer({ wire: this.clock, ...options });
    const random = options.jitter ?? seededRandom(1);
    const times = { clock: this.clock, wire: this.clock, random };
    const client = createClient({ transport: this.server, ...times });
    const { freeze, log, metrics } = options;
    this.cache = new Cache({
      client,
      ...times,
      ...(freeze !== undefined && { freeze }),
      ...(log && { log }),
      ...(metrics && { metrics }),
    });
  }

  /** watch creates an informer of ConfigMaps and records its events. */
  watch<const V extends View<ConfigMap> = 'full'>(
    options: InformerOptions<V> = {},
  ): { informer: Informer<ViewOf<typeof ConfigMap, V>>; events: InformerEvent<ViewOf<typeof ConfigMap, V>>[] } {
    const informer = this.cache.informer(ConfigMap, options);
    const events: InformerEvent<ViewOf<typeof ConfigMap, V>>[] = [];
    informer.subscribe((event) => events.push(event));
    return { informer, events };
  }

  /** run starts the cache and lets it do everything that needs no time. */
  async run(): Promise<void> {
    this.#running = this.cache.run(this.#stop.signal);
    await this.clock.advance(0);
  }

  /** settle lets everything happen that needs no time. */
  async settle(): Promise<void> {
    await this.clock.advance(0);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.clock.advance(0);
    await this.#running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/** described returns an event in one line: `add a/x`, `update a/x (initial)`, `delete a/x (initial, stale)`. */
export function described(event: InformerEvent<unknown>): string {
  const notes = [event.initial ? 'initial' : '', event.stale ? 'stale' : ''].filter((note) => note !== '');
  const key = event.key.namespace ? `${event.key.namespace}/${event.key.name}` : event.key.name;
  return `${event.type} ${key}${notes.length > 0 ? ` (${notes.join(', ')})` : ''}`;
}

/** summary returns a request in short form: `watch list rv=1001`, `list rv=0 limit=500`, `watch rv=1001`. */
export function summary({ verb, query }: ReceivedRequest): string {
  const parts = [query.sendInitialEvents === 'true' ? 'watch list' : verb];
  if (query.resourceVersion !== undefined) parts.push(`rv=${query.resourceVersion}`);
  if (query.limit !== undefined) parts.push(`limit=${query.limit}`);
  if (query.continue !== undefined) parts.push('continue');
  return parts.join(' ');
}

/** summaries returns the requests without the version probe that follows every resumed watch. */
export function summaries(harness: Harness): string[] {
  return harness.server.requests.map(summary).filter((each) => each !== 'list limit=1');
}
