import { type Clock, pick, type Random, seededRandom } from '@bowline/machinery';
import { type Transport, TransportError, type TransportRequest, type TransportResponse } from '@bowline/runtime/client';
import { type Content, History, type NamespacedKey, type StoredObject } from './history.test-support.ts';
import { ServerWatch } from './server-watch.test-support.ts';

/** ReceivedRequest is a request that the server received. */
export interface ReceivedRequest {
  readonly verb: 'list' | 'watch';
  readonly namespace: string | undefined;
  readonly query: Readonly<Record<string, string>>;
  readonly metadataOnly: boolean;
  /** Monotonic wire time. */
  readonly at: number;
}

/**
 * ScriptedResponse is a scripted response instead of the real one. `refuse` is a refused connection, `hang` no response
 * at all.
 */
export type ScriptedResponse =
  | { readonly status: number; readonly body?: object | string; readonly headers?: Readonly<Record<string, string>> }
  | 'refuse'
  | 'hang';

/** WatchServerOptions configures a scripted server. */
export interface WatchServerOptions {
  readonly wire: Clock;
  /**
   * The random source for what a server may choose: the order of initial objects, how far a replica lags. Defaults to
   * seed 1.
   */
  readonly random?: Random;
  /** The interval of bookmarks. Defaults to 60 s. */
  readonly bookmarkEveryMs?: number;
}

/**
 * WatchServer is a small API server for one kind, ConfigMap, that lists and watches from a History like kube-apiserver:
 * paging with consistent continue tokens, WatchList, bookmarks, 410 after compaction, 504 for versions it has not
 * reached, silence for a watch from the future. Writes are made on it directly. It is a Transport: no network is
 * involved.
 */
export class WatchServer implements Transport {
  readonly host = 'scripted:443';
  readonly history = new History();
  readonly requests: ReceivedRequest[] = [];
  readonly watches = new Set<ServerWatch>();
  /** Called before every request; a result replaces the server's own response. */
  script: (seen: ReceivedRequest) => ScriptedResponse | undefined = () => undefined;
  /** Whether `sendInitialEvents` is supported: rejected with 422, or ignored. */
  watchList: 'supported' | 'refused' | 'ignored' = 'supported';
  /** Whether the initial state of a WatchList ends with its bookmark. */
  endsInitialState = true;
  /** Whether the kind is served at all. */
  served = true;
  /** Whether reads that allow it may return an older state than the newest. */
  lags = false;
  /** Whether a rejected watch gets an ERROR event instead of the status. */
  errorsInStream = false;

  readonly #wire: Clock;
  readonly #random: Random;
  readonly #bookmarkEveryMs: number;

  constructor(options: WatchServerOptions) {
    this.#wire = options.wire;
    this.#random = options.random ?? seededRandom(1);
    this.#bookmarkEveryMs = options.bookmarkEveryMs ?? 60_000;
  }

  /** put writes an object and notifies the watches. */
  put(key: NamespacedKey, content: Content = {}, step = 1): StoredObject {
    const object = this.history.put(key, content, step);
    this.#notifyWatches();
    return object;
  }

  /** remove deletes an object and notifies the watches. */
  remove(key: NamespacedKey, step = 1): StoredObject | undefined {
    const object = this.history.remove(key, step);
    this.#notifyWatches();
    return object;
  }

  /** bookmark sends every watch a bookmark now. */
  bookmark(): void {
    for (const watch of this.watches) if (watch.wantsBookmarks) watch.bookmark(this.history.current);
  }

  /** restore breaks every connection and comes back with an older history. */
  restore(version: number): void {
    for (const watch of [...this.watches]) watch.cut('the server was restored');
    this.history.restore(version);
  }

  /** onlyWatch returns the one open watch. */
  get onlyWatch(): ServerWatch {
    const [watch, ...others] = this.watches;
    if (!watch || others.length > 0) throw new Error(`expected one open watch, found ${this.watches.size}`);
    return watch;
  }

  #notifyWatches(): void {
    for (const watch of this.watches) watch.follow(this.history.since(0));
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    const seen = this.#read(request);
    this.requests.push(seen);
    request.signal?.throwIfAborted();
    const scripted = this.script(seen);
    if (scripted === 'refuse') throw new TransportError('BOWLINE_TRANSPORT_UNREACHABLE', 'the connection was refused');
    if (scripted === 'hang') return this.#hang(request);
    if (scripted) return response(scripted.status, scripted.body ?? statusOf(scripted.status, ''), scripted.headers);
    if (!this.served) return response(404, 'not found');
    return seen.verb === 'list' ? this.#list(seen) : this.#watch(seen, request.signal);
  }

  async #hang(request: TransportRequest): Promise<TransportResponse> {
    await this.#wire.sleep(request.timeoutMs ?? 30_000, request.signal);
    throw new TransportError('BOWLINE_TRANSPORT_TIMEOUT', 'no response in time');
  }

  #read(request: TransportRequest): ReceivedRequest {
    const url = new URL(request.path, 'https://scripted');
    const query = Object.fromEntries(url.searchParams);
    const namespace = /^\/api\/v1\/namespaces\/([^/]+)\/configmaps$/.exec(url.pathname)?.[1];
    const metadataOnly = request.headers?.accept?.includes('PartialObjectMetadata') === true;
    const verb = query.watch === 'true' ? 'watch' : 'list';
    return { verb, namespace, query, metadataOnly, at: this.#wire.monotonic() };
  }

  /**
   * The version a read is served at: the newest, or for reads that allow it any version that is at least the requested
   * one.
   */
  #readVersion(requested: string | undefined): number {
    const newest = this.history.current;
    if (!requested || !this.lags) return newest;
    const oldest = Math.max(Number(requested), this.history.compacted, 1);
    const versions = this.history.since(oldest - 1).map((revision) => revision.version);
    return pick(this.#random, [...versions, newest]);
  }

  #list(seen: ReceivedRequest): TransportResponse {
    const { resourceVersion, limit } = seen.query;
    let { version, start } = { version: 0, start: 0 };
    if (seen.query.continue) {
      [version = 0, start = 0] = seen.query.continue.split('-').map(Number);
      if (version < this.history.compacted) return response(410, statusOf(410, 'Expired'));
    } else {
      if (Number(resourceVersion ?? 0) > this.history.current) return tooLarge();
      version = this.#readVersion(resourceVersion);
    }
    const all = [...this.history.at(version).values()].filter(matcherOf(seen));
    // A limit is ignored if the response comes from the watch cache.
    const size = limit && resourceVersion !== '0' ? Number(limit) : all.length;
    const items = all.slice(start, start + size);
    const next = start + size < all.length ? { continue: `${version}-${start + size}` } : {};
    return response(200, {
      apiVersion: 'v1',
      kind: 'ConfigMapList',
      metadata: { resourceVersion: String(version), ...next },
      items: seen.metadataOnly ? items.map(({ metadata }) => ({ metadata })) : items,
    });
  }

  #watch(seen: ReceivedRequest, signal: AbortSignal | undefined): TransportResponse {
    const { resourceVersion, sendInitialEvents, timeoutSeconds, allowWatchBookmarks } = seen.query;
    const requested = Number(resourceVersion ?? 0);
    const streamed = sendInitialEvents === 'true' && this.watchList !== 'ignored';
    if (streamed && this.watchList === 'refused') return response(422, statusOf(422, 'Invalid'));
    if (streamed && requested > this.history.current) return tooLarge();
    const initial = streamed || requested === 0;
    const expired = !initial && requested < this.history.compacted;
    if (expired && !this.errorsInStream) return response(410, statusOf(410, 'Expired'));

    const version = initial ? this.#readVersion(resourceVersion) : requested;
    const watch = new ServerWatch({
      wire: this.#wire,
      matches: matcherOf(seen),
      metadataOnly: seen.metadataOnly,
      bookmarks: allowWatchBookmarks === 'true',
      after: version,
      timeoutMs: timeoutSeconds === undefined ? undefined : Number(timeoutSeconds) * 1000,
      onEnd: (ended) => this.watches.delete(ended),
    });
    this.watches.add(watch);
    signal?.addEventListener('abort', () => watch.abandon(signal.reason), { once: true });
    if (expired) {
      watch.error(statusOf(410, 'Expired'));
    } else {
      if (initial) for (const object of shuffled(this.history.at(version), this.#random)) watch.initial(object);
      watch.follow(this.history.since(version));
      if (streamed && this.endsInitialState) watch.bookmark(this.history.current, true);
      this.#keepBookmarking(watch);
    }
    return {
      status: 200,
      headers: {},
      body: watch.body,
      text: () => Promise.reject(new Error('a watch never ends')),
      aliveAt: () => watch.aliveAt(),
    };
  }

  #keepBookmarking(watch: ServerWatch): void {
    if (!watch.wantsBookmarks || this.#bookmarkEveryMs === Number.POSITIVE_INFINITY) return;
    const timer = this.#wire.setTimer(this.#bookmarkEveryMs, () => {
      watch.bookmark(this.history.current);
      this.#keepBookmarking(watch);
    });
    watch.own(timer);
  }

  async close(): Promise<void> {
    for (const watch of [...this.watches]) watch.cut('closed');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** statusOf returns the API's error object. */
export function statusOf(code: number, reason: string, details?: object): object {
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: reason, details };
}

function tooLarge(): TransportResponse {
  const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }];
  return response(504, statusOf(504, 'Timeout', { causes, retryAfterSeconds: 1 }), { 'retry-after': '1' });
}

function response(
  status: number,
  body: object | string,
  headers: Readonly<Record<string, string>> = {},
): TransportResponse {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return {
    status,
    headers,
    body: (async function* () {
      yield Buffer.from(text);
    })(),
    text: () => Promise.resolve(text),
    aliveAt: () => 0,
  };
}

/** matcherOf supports what the tests need: one `key=value` label, one `metadata.name=`. */
function matcherOf(seen: ReceivedRequest): (object: StoredObject) => boolean {
  const [labelKey = '', labelValue] = seen.query.labelSelector?.split('=') ?? [];
  const name = seen.query.fieldSelector?.replace('metadata.name=', '');
  return ({ metadata }) =>
    (seen.namespace === undefined || metadata.namespace === seen.namespace) &&
    (labelKey === '' || metadata.labels?.[labelKey] === labelValue) &&
    (name === undefined || metadata.name === name);
}

function shuffled(state: ReadonlyMap<string, StoredObject>, random: Random): StoredObject[] {
  return [...state.values()]
    .map((object) => ({ object, order: random.next() }))
    .sort((left, right) => left.order - right.order)
    .map(({ object }) => object);
}
