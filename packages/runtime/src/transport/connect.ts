import { setMaxListeners } from 'node:events';
import { type Clock, systemClock } from '@bowline/machinery';
import { type Log, silentLog } from '../observability/log.ts';
import { type Counter, type Histogram, type Metrics, noMetrics } from '../observability/metrics.ts';
import { type Channel, type Incoming, Unprocessed } from './channel.ts';
import { ChannelPool } from './channel-pool.ts';
import type { ConnectionConfig, Credentials, Impersonation, RequestHeaders } from './connection-config.ts';
import { FlowSlots } from './flow-slots.ts';
import { impersonationHeaders } from './impersonation.ts';
import { RequestScope } from './request-scope.ts';
import type { Lane, Transport, TransportRequest, TransportResponse } from './transport.ts';
import { type Endpoint, TransportError } from './transport-error.ts';

/** TransportOptions configures the connections to one API server. */
export interface TransportOptions {
  /** The clock for timeouts and pings. Defaults to the system clock. */
  readonly wire?: Clock | undefined;
  /** Defaults to no logging. */
  readonly log?: Log | undefined;
  /** Defaults to none. */
  readonly metrics?: Metrics | undefined;
  /**
   * The maximum number of concurrent requests of the `call` lane; further requests wait. One flow (a namespace) gets at
   * most half of them. Defaults to 64: 16 to 32 saturate an API server and more only queue inside it, where they count
   * against other clients; the other half remains available when the requests of one flow hang.
   */
  readonly maxInFlight?: number | undefined;
  /**
   * The maximum number of open watches; another one is rejected with BOWLINE_TRANSPORT_WATCH_LIMIT. Defaults to 1000.
   */
  readonly maxWatches?: number | undefined;
  /**
   * The maximum number of concurrent requests per HTTP/2 connection; the limit announced by the server is never
   * exceeded. Defaults to 80, below kube-apiserver's limit of 100.
   */
  readonly maxStreamsPerConnection?: number | undefined;
  /** The default timeout of a request. Defaults to 30 s. */
  readonly timeoutMs?: number | undefined;
  /** The timeout for establishing a connection, including the proxy and TLS handshakes. Defaults to 10 s. */
  readonly connectTimeoutMs?: number | undefined;
  /** The interval of PINGs on every connection. Defaults to 15 s. */
  readonly pingIntervalMs?: number | undefined;
  /** A connection whose peer does not acknowledge a PING within this time is closed. Defaults to 10 s. */
  readonly pingTimeoutMs?: number | undefined;
  /** The maximum size of a body read by `text()`. Defaults to 256 MiB, enough for a LIST of 100,000 small objects. */
  readonly maxResponseBytes?: number | undefined;
  /**
   * The maximum amount of unread data the server may send on one stream. Bounds the memory of a stalled watch. Defaults
   * to 1 MiB.
   */
  readonly streamWindowBytes?: number | undefined;
}

/**
 * The maximum number of attempts for a request that the server did not process: one immediate retry, then with
 * exponential delays (about 1.5 s in total).
 */
const MAX_ATTEMPTS = 6;
const FIRST_PAUSE_MS = 50;

/**
 * connect returns a transport to one API server. It opens no connection before the first request. Open connections keep
 * the process alive until `close`.
 *
 * @example
 * await using transport = connect(await inClusterConfig({ env: process.env }));
 * const version = await (await transport.request({ method: 'GET', path: '/version', lane: 'call' })).text();
 */
export function connect(config: ConnectionConfig, options: TransportOptions = {}): Transport {
  return new HttpTransport(config, options);
}

class HttpTransport implements Transport {
  readonly host: string;
  readonly #config: ConnectionConfig;
  readonly #options: TransportOptions;
  readonly #wire: Clock;
  readonly #log: Log;
  readonly #endpoint: Endpoint;
  readonly #prefix: string;
  readonly #impersonate: Impersonation | undefined;
  readonly #timeoutMs: number;
  readonly #maxResponseBytes: number;
  readonly #maxWatches: number;
  readonly #slots: FlowSlots;
  readonly #pools: Readonly<Record<Lane, ChannelPool>>;
  readonly #live = new Set<RequestScope>();
  readonly #ended = new AbortController();
  readonly #waits: Histogram;
  readonly #retries: Counter;
  #watches = 0;

  constructor(config: ConnectionConfig, options: TransportOptions) {
    const url = new URL(config.server);
    this.host = url.host;
    this.#config = config;
    this.#options = options;
    this.#wire = options.wire ?? systemClock;
    this.#log = options.log ?? silentLog;
    this.#endpoint = { server: url.origin, source: config.source ?? url.origin };
    this.#prefix = url.pathname.replace(/\/$/, '');
    this.#impersonate = config.impersonate;
    this.#timeoutMs = options.timeoutMs ?? 30_000;
    this.#maxResponseBytes = options.maxResponseBytes ?? 256 * 2 ** 20;
    this.#maxWatches = options.maxWatches ?? 1000;
    this.#slots = new FlowSlots(options.maxInFlight ?? 64);
    const metrics = options.metrics ?? noMetrics;
    this.#waits = metrics.histogram({
      name: 'rest_client_rate_limiter_duration_seconds',
      help: 'Time requests waited because the maximum number of requests was in flight.',
      labels: ['verb', 'host'],
      buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
    });
    this.#retries = metrics.counter({
      name: 'rest_client_request_retries_total',
      help: 'Retried requests, by cause.',
      labels: ['code', 'verb', 'host'],
    });
    // Each connection that is being opened adds a listener.
    setMaxListeners(0, this.#ended.signal);
    const maxStreams = options.maxStreamsPerConnection ?? 80;
    const pool = (): ChannelPool =>
      new ChannelPool({
        open: (onUnusable) => this.#open(options, maxStreams, onUnusable),
        expectedCapacity: url.protocol === 'https:' ? maxStreams : 1,
      });
    this.#pools = { call: pool(), watch: pool(), lease: pool() };
  }

  async #open(options: TransportOptions, maxStreams: number, onUnusable: (channel: Channel) => void): Promise<Channel> {
    const connectTimeoutMs = options.connectTimeoutMs ?? 10_000;
    // Loading Node's HTTP/2 and TLS modules takes longer than loading the rest of this package, and a client may use
    // another transport.
    const [{ openSocket }, { Http2Channel }] = await Promise.all([import('./socket.ts'), import('./http2-channel.ts')]);
    const opened = await openSocket({
      config: this.#config,
      endpoint: this.#endpoint,
      wire: this.#wire,
      connectTimeoutMs,
      signal: this.#ended.signal,
    });
    this.#log.debug('connected to the API server', { server: this.#endpoint.server, protocol: opened.protocol });
    const common = { endpoint: this.#endpoint, wire: this.#wire, onUnusable };
    if (opened.protocol === 'h2') {
      return Http2Channel.open(opened, {
        ...common,
        authority: this.#endpoint.server,
        connectTimeoutMs,
        signal: this.#ended.signal,
        maxStreams,
        pingIntervalMs: options.pingIntervalMs ?? 15_000,
        pingTimeoutMs: options.pingTimeoutMs ?? 10_000,
        streamWindowBytes: options.streamWindowBytes ?? 2 ** 20,
      });
    }
    const { Http1Channel } = await import('./http1-channel.ts');
    return new Http1Channel(opened, { ...common, authority: this.host });
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    if (this.#ended.signal.aborted) throw this.#ended.signal.reason;
    const timeoutMs = request.timeoutMs ?? this.#timeoutMs;
    const scope = new RequestScope({
      signal: request.signal,
      wire: this.#wire,
      timeoutMs,
      onTimeout: () => this.#timedOut(request, timeoutMs),
    });
    scope.throwIfCancelled();
    this.#live.add(scope);
    let release = (): void => {};
    const finish = (): void => {
      if (!this.#live.delete(scope)) return;
      scope[Symbol.dispose]();
      release();
    };
    try {
      const admitted = this.#admit(request, scope);
      release = admitted instanceof Promise ? await admitted : admitted;
      scope.onCancel(finish);
      const incoming = await this.#exchange(request, scope);
      if (request.lane === 'watch') scope.stopTimer();
      incoming.onEnd(finish);
      return this.#response(request, incoming, finish);
    } catch (error) {
      finish();
      throw error instanceof Unprocessed ? this.#refused(error) : error;
    }
  }

  /** #admit takes a slot in the request's lane, waiting if necessary, and returns a function that releases it. */
  #admit(request: TransportRequest, scope: RequestScope): (() => void) | Promise<() => void> {
    switch (request.lane) {
      case 'lease':
        return () => {};
      case 'watch':
        if (this.#watches >= this.#maxWatches) {
          throw new TransportError(
            'BOWLINE_TRANSPORT_WATCH_LIMIT',
            `${this.#maxWatches} watches are open on ${this.#endpoint.server}: share informers, or raise maxWatches`,
          );
        }
        this.#watches++;
        return () => {
          this.#watches--;
        };
      case 'call': {
        const { flow } = request;
        const release = (): void => this.#slots.release(flow);
        const labels = { verb: request.method, host: this.host };
        if (this.#slots.tryTake(flow)) {
          this.#waits.observe(0, labels);
          return release;
        }
        const since = this.#wire.monotonic();
        const waitForOthers = (wait: Promise<void>): Promise<void> => this.#waitForOthers(request, scope, since, wait);
        return this.#slots.take(flow, scope, waitForOthers).then(() => {
          this.#waits.observe((this.#wire.monotonic() - since) / 1000, labels);
          return release;
        });
      }
    }
  }

  /**
   * #waitForOthers suspends the request's own timeout while it waits for slots held by other flows, if the request sets
   * `waitMs`.
   */
  async #waitForOthers(
    request: TransportRequest,
    scope: RequestScope,
    since: number,
    wait: Promise<void>,
  ): Promise<void> {
    const { waitMs, timeoutMs = this.#timeoutMs } = request;
    if (waitMs === undefined) return await wait;
    const leftMs = timeoutMs - (this.#wire.monotonic() - since);
    const longestMs = leftMs + waitMs;
    scope.restartTimer(longestMs, () => this.#notSent(request, longestMs));
    await wait;
    scope.restartTimer(leftMs);
  }

  async #exchange(request: TransportRequest, scope: RequestScope): Promise<Incoming> {
    let mayRefresh = this.#config.credentials !== undefined;
    for (let attempt = 1; ; attempt++) {
      const given = this.#config.credentials?.headers() ?? {};
      const credentials = given instanceof Promise ? await scope.race(given) : given;
      let incoming: Incoming;
      let channel: Channel;
      try {
        [incoming, channel] = await this.#send(request, credentials, scope);
      } catch (error) {
        if (!(error instanceof Unprocessed) || attempt >= MAX_ATTEMPTS) throw error;
        this.#retries.add({ code: error.reason, verb: request.method, host: this.host });
        if (attempt > 1) await scope.race(this.#wire.sleep(FIRST_PAUSE_MS * 2 ** (attempt - 2)));
        continue;
      }
      if (incoming.status !== 401 || !mayRefresh) return incoming;
      mayRefresh = false;
      let changed: boolean;
      try {
        changed = await this.#refresh(credentials, channel, scope);
      } catch (error) {
        incoming.discard();
        throw error;
      }
      if (!changed) return incoming;
      incoming.discard();
      this.#retries.add({ code: '401', verb: request.method, host: this.host });
    }
  }

  async #send(
    request: TransportRequest,
    credentials: RequestHeaders,
    scope: RequestScope,
  ): Promise<[Incoming, Channel]> {
    const acquired = this.#pools[request.lane].acquire(scope);
    const lease = acquired instanceof Promise ? await acquired : acquired;
    const { channel } = lease;
    const impersonate = request.impersonate ?? this.#impersonate;
    const startedAt = this.#wire.monotonic();
    const unsubscribe = scope.onCancel((reason) => {
      // The next request must not use the same dead connection: a lease renewal cannot wait for the PING to time out.
      const timedOut = reason instanceof TransportError && reason.code === 'BOWLINE_TRANSPORT_TIMEOUT';
      if (timedOut && channel.aliveAt() <= startedAt) channel.markSuspect();
    });
    try {
      scope.throwIfCancelled();
      const incoming = await channel.send(
        {
          method: request.method,
          path: this.#prefix + request.path,
          headers: { ...request.headers, ...(impersonate && impersonationHeaders(impersonate)), ...credentials },
          body: request.body,
          beforeSend: request.beforeSend,
        },
        scope,
      );
      incoming.onEnd(() => {
        unsubscribe();
        lease.release();
      });
      return [incoming, channel];
    } catch (error) {
      unsubscribe();
      lease.release();
      throw error;
    }
  }

  /** #refresh renews credentials that were rejected with 401 and retires the connections that were opened with them. */
  async #refresh(headers: RequestHeaders, channel: Channel, scope: RequestScope): Promise<boolean> {
    const { credentials } = this.#config;
    if (!credentials) return false;
    const changed = await scope.race(credentials.refresh({ headers, certificatePem: channel.certificatePem }));
    if (!changed) return false;
    if (credentials.certificate) {
      const current = await scope.race(credentials.certificate());
      for (const pool of Object.values(this.#pools)) {
        pool.retireIf((open) => open.certificatePem !== current?.certificatePem);
      }
    }
    return true;
  }

  #response(request: TransportRequest, incoming: Incoming, finish: () => void): TransportResponse {
    const limit = this.#maxResponseBytes;
    return {
      status: incoming.status,
      headers: incoming.headers,
      body: { [Symbol.asyncIterator]: () => incoming.read(finish) },
      aliveAt: incoming.aliveAt,
      async text() {
        const parts: Uint8Array[] = [];
        let size = 0;
        await incoming.read(finish).drain((chunk) => {
          size += chunk.byteLength;
          if (size > limit) {
            throw new TransportError(
              'BOWLINE_TRANSPORT_RESPONSE_TOO_LARGE',
              `the response to ${request.method} ${pathOnly(request.path)} is larger than ${limit} bytes: request less (limit, selectors), or raise maxResponseBytes`,
              { retryable: false, mayHaveBeenProcessed: true },
            );
          }
          parts.push(chunk);
        });
        return Buffer.concat(parts, size).toString('utf8');
      },
    };
  }

  #timedOut(request: TransportRequest, timeoutMs: number): TransportError {
    return new TransportError(
      'BOWLINE_TRANSPORT_TIMEOUT',
      `${request.method} ${pathOnly(request.path)} on ${this.#endpoint.server} took longer than ${timeoutMs} ms: the API server may be overloaded or unreachable; raise timeoutMs if it is only slow`,
      { mayHaveBeenProcessed: true },
    );
  }

  #notSent(request: TransportRequest, waitedMs: number): TransportError {
    return new TransportError(
      'BOWLINE_TRANSPORT_TIMEOUT',
      `${request.method} ${pathOnly(request.path)} was not sent to ${this.#endpoint.server}: ${this.#slots.limit} other requests were still running after ${waitedMs} ms; check what they wait for (for example an admission webhook), or raise maxInFlight`,
    );
  }

  #refused(error: Unprocessed): TransportError {
    return new TransportError(
      'BOWLINE_TRANSPORT_REFUSED',
      `${this.#endpoint.server} refused the request ${MAX_ATTEMPTS} times without processing it (${error.reason}): it is shutting down or overloaded`,
      { cause: error },
    );
  }

  withCredentials(credentials: Credentials): Transport {
    return new HttpTransport({ ...this.#config, credentials, impersonate: undefined }, this.#options);
  }

  async close(): Promise<void> {
    if (!this.#ended.signal.aborted) {
      this.#ended.abort(
        new TransportError('BOWLINE_TRANSPORT_CLOSED', `the transport to ${this.#endpoint.server} was closed`, {
          retryable: false,
        }),
      );
    }
    const reason: unknown = this.#ended.signal.reason;
    for (const scope of [...this.#live]) scope.cancel(reason);
    const error = reason instanceof Error ? reason : new Error('closed');
    await Promise.all(Object.values(this.#pools).map((pool) => pool.close(error)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** pathOnly strips the query because selectors may contain values that must not be logged. */
function pathOnly(path: string): string {
  const query = path.indexOf('?');
  return query < 0 ? path : path.slice(0, query);
}
