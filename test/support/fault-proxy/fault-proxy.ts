import { once, setMaxListeners } from 'node:events';
import { constants, createSecureServer, type Http2SecureServer } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { type Clock, createCertificateAuthority, issueCertificate, systemClock } from '@bowline/machinery';
import type { ConnectionConfig, Credentials } from '@bowline/runtime/client';
import { Endpoint } from './endpoint.ts';
import { type Exchange, forward, type Request, type Response, relayOf, respondWith } from './exchange.ts';
import type { Fault, ProxiedRequest, Schedule } from './fault.ts';
import { Upstream } from './upstream.ts';

/** FaultProxyOptions configures the server behind the proxy and the faults. */
export interface FaultProxyOptions {
  /**
   * The server, which uses HTTP/2 over TLS, or HTTP/1.1 at `http:`. Requests with an Authorization header keep it; others use the
   * credentials of this connection, because a proxy cannot forward a client certificate.
   */
  readonly upstream: ConnectionConfig;
  /** Decides about each request. Defaults to no faults. */
  readonly schedule?: Schedule;
  /** The clock for delays, stalls and restarts. Defaults to the system clock. */
  readonly wire?: Clock;
}

/** Injected is a fault that was applied. */
export interface Injected {
  readonly fault: Fault;
  readonly request: ProxiedRequest;
}

/** The limit of kube-apiserver. */
const MAX_STREAMS = 100;
/** The record of injected faults is for messages and counts and must not grow forever. */
const MAX_RECORDED = 10_000;

/**
 * FaultProxy sits between clients and an API server and injects network faults. It terminates TLS with its own CA, supports
 * HTTP/2 and HTTP/1.1, and carries every connection through a relay, so that it can reset, hold and refuse at the TCP level as
 * well as respond, cut and modify at the HTTP level.
 */
export class FaultProxy implements AsyncDisposable {
  /** May be changed at any time; active requests keep their decision. */
  schedule: Schedule;
  readonly injected: Injected[] = [];
  readonly #ca: string;
  readonly #inner: Http2SecureServer;
  readonly #upstream: Upstream;
  readonly #wire: Clock;
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #sockets = new Set<Socket>();
  readonly #work = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  #requests = 0;

  private constructor(options: FaultProxyOptions, ca: string, inner: Http2SecureServer) {
    this.schedule = options.schedule ?? (() => undefined);
    this.#ca = ca;
    this.#inner = inner;
    this.#upstream = new Upstream(options.upstream);
    this.#wire = options.wire ?? systemClock;
    // One listener per active request, whose number is limited by the connections.
    setMaxListeners(0, this.#closing.signal);
    inner.on('request', (request: Request, response: Response) => this.#track(this.#handle(request, response)));
    inner.on('sessionError', () => {});
    inner.on('session', (session) => session.once('close', () => this.#track(this.#upstream.forget(session))));
    inner.on('secureConnection', (socket: Socket) => this.#keep(socket));
    inner.on('connection', (socket: Socket) => this.#keep(socket));
  }

  /** start listens on loopback. Clients connect through endpoints. */
  static async start(options: FaultProxyOptions): Promise<FaultProxy> {
    const authority = await createCertificateAuthority({ commonName: 'fault-proxy' });
    const server = await issueCertificate({
      authority,
      commonName: 'fault-proxy',
      ipAddresses: ['127.0.0.1'],
      dnsNames: ['localhost'],
      usages: ['server'],
    });
    const inner = createSecureServer({
      cert: server.certificatePem,
      key: server.keyPem,
      allowHTTP1: true,
      settings: { maxConcurrentStreams: MAX_STREAMS },
    });
    inner.listen(0, '127.0.0.1');
    await once(inner, 'listening');
    return new FaultProxy(options, authority.certificatePem, inner);
  }

  /** endpoint returns the entry of one client, which is opened by the first call. */
  async endpoint(name: string): Promise<Endpoint> {
    const existing = this.#endpoints.get(name);
    if (existing) return existing;
    const endpoint = await Endpoint.open(name, (this.#inner.address() as AddressInfo).port);
    this.#endpoints.set(name, endpoint);
    return endpoint;
  }

  /** connection returns the connection config of a client through its endpoint. */
  async connection(name: string, credentials?: Credentials): Promise<ConnectionConfig> {
    const { port } = await this.endpoint(name);
    return {
      server: `https://127.0.0.1:${port}`,
      ca: this.#ca,
      source: `fault proxy endpoint ${name}`,
      ...(credentials ? { credentials } : {}),
    };
  }

  /** close ends every connection and resolves when nothing of the proxy is left. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#endpoints.values()].map((endpoint) => endpoint.down()));
    for (const socket of this.#sockets) socket.destroy();
    await this.#upstream[Symbol.asyncDispose]();
    await new Promise<void>((resolve) => this.#inner.close(() => resolve()));
    await Promise.all(this.#work);
    // A restart in progress may have come up again in between.
    await Promise.all([...this.#endpoints.values()].map((endpoint) => endpoint.down()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => {
      this.#sockets.delete(socket);
      this.#track(this.#upstream.forget(socket));
    });
  }

  #track(work: Promise<void>): void {
    const tracked = work.catch(() => undefined).then(() => void this.#work.delete(tracked));
    this.#work.add(tracked);
  }

  async #handle(request: Request, response: Response): Promise<void> {
    response.on('error', () => {});
    const endpoint = [...this.#endpoints.values()].find((each) => each.relayOf(request.socket.remotePort));
    if (!endpoint) {
      request.socket.destroy();
      return;
    }
    const proxied: ProxiedRequest = {
      client: endpoint.name,
      method: request.method ?? 'GET',
      path: request.url ?? '/',
      isWatch: /[?&]watch=(?:true|1)\b/.test(request.url ?? ''),
      number: ++this.#requests,
    };
    const fault = this.schedule(proxied);
    if (fault && this.injected.length < MAX_RECORDED) this.injected.push({ fault, request: proxied });
    const exchange: Exchange = {
      request,
      response,
      upstream: this.#upstream,
      endpoint,
      wire: this.#wire,
      signal: this.#closing.signal,
      restart: (downMs) => this.#track(this.#restart(endpoint, downMs)),
    };
    try {
      if (await before(exchange, fault)) await forward(exchange, fault);
    } catch {
      // The server or the client disconnected: the client sees the same as without a proxy.
      relayOf(exchange)?.reset();
    }
  }

  async #restart(endpoint: Endpoint, downMs: number): Promise<void> {
    await endpoint.down();
    await this.#wire.sleep(downMs, this.#closing.signal);
    await endpoint.up();
  }
}

/** before applies the faults that precede the request to the server, and returns whether to send it. */
async function before(exchange: Exchange, fault: Fault | undefined): Promise<boolean> {
  const { request, response, wire, signal } = exchange;
  switch (fault?.kind) {
    case 'delay':
      await wire.sleep(fault.ms, signal);
      return true;
    case 'answer':
      request.resume();
      respondWith(response, fault.status, fault.retryAfterSeconds);
      return false;
    case 'drop':
      if (fault.when === 'answer') return true;
      relayOf(exchange)?.reset();
      return false;
    case 'refuse-stream':
      if (!('stream' in request)) return true;
      request.stream.close(constants.NGHTTP2_REFUSED_STREAM);
      return false;
    case 'goaway':
      if ('stream' in request) request.stream.session?.goaway();
      return true;
    case 'restart':
      exchange.restart(fault.downMs);
      return false;
    default:
      return true;
  }
}
