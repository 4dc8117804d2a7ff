import { setMaxListeners } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import { type Clock, parseDuration } from '@bowline/machinery';
import type { Log } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics.ts';
import { listenError, parseListenAddress } from '../operations/listen-address.ts';
import { RequestScope } from '../transport/request-scope.ts';
import type { TlsMaterial } from './certificates/certificate-source.ts';
import { HttpProblem } from './http-problem.ts';
import { readBody } from './read-body.ts';
import { WebhookMetrics } from './webhook-metrics.ts';
import { describeRoutes, type Route, routesByPath } from './webhook-route.ts';
import { WorkLimit } from './work-limit.ts';

/** WebhookServerOptions says what is served where. */
export interface WebhookServerOptions {
  /** `host:port` or `:port`; port 0 means any free one. */
  readonly address: string;
  readonly routes: readonly Route[];
  /** Larger bodies get 413. */
  readonly maxBodyBytes: number;
  /** Reviews that are read and answered at the same time; others wait, within their own time. */
  readonly maxInFlight: number;
  /** After this many requests a connection is closed, so that callers spread over replicas again. */
  readonly maxRequestsPerConnection: number;
  /** How long reviews under way may take once the server stops. */
  readonly drainMs: number;
  readonly wire: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Stops the server. */
  readonly signal: AbortSignal;
}

/** WebhookServer is a running server. */
export interface WebhookServer {
  readonly port: number;
  /** use serves a certificate from the next handshake on; connections that are open stay open. Before the first, no handshake succeeds. */
  use(certificate: TlsMaterial): void;
  /** Settles once the signal was aborted, reviews under way are answered and every socket is closed. */
  readonly stopped: Promise<void>;
}

/**
 * The API server keeps idle connections for 90 s (measured with 1.35.8). It does not repeat a review whose connection the other side closed at
 * that moment, so ours must never be the side that closes first.
 */
const KEEP_ALIVE_MS = 150_000;
/** The longest that an API server waits for a webhook. */
const LONGEST_REVIEW_MS = 30_000;
const LIMITS = {
  keepAliveTimeout: KEEP_ALIVE_MS,
  headersTimeout: 10_000,
  requestTimeout: LONGEST_REVIEW_MS,
  connectionsCheckingInterval: 5_000,
  handshakeTimeout: 10_000,
  maxHeaderSize: 16 * 1024,
};
const MOST_CONNECTIONS = 1000;
/** After the stop, how long unused connections stay: a request may be on its way. */
const LINGER_MS = 500;

/**
 * startWebhookServer serves webhooks over HTTPS, by HTTP/1.1 alone: through a Service the API server speaks nothing else
 * (kubernetes#75791: a connection of HTTP/2 would tie all requests to one replica), and to a URL it takes what is offered.
 * Resolves when it listens; rejects with BOWLINE_ADDRESS_* when it cannot.
 */
export async function startWebhookServer(options: WebhookServerOptions): Promise<WebhookServer> {
  options.signal.throwIfAborted();
  const requests = new Requests(options);
  const server = createServer(LIMITS, (request, response) => {
    void requests.handle(request, response);
  });
  const sockets = new OpenSockets(server);
  server.maxConnections = MOST_CONNECTIONS;
  server.maxRequestsPerSocket = options.maxRequestsPerConnection;
  server.on('tlsClientError', (error) => options.log.debug('TLS handshake with a webhook caller failed', { error }));
  const address = parseListenAddress(options.address, 'webhookAddress') ?? { host: undefined, port: 0 };
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(options.address, 'webhookAddress', error)));
    server.listen({ port: address.port, host: address.host }, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    use: (certificate) => server.setSecureContext(tlsOptions(certificate)),
    stopped: stopOn(server, sockets, requests, options),
  };
}

function tlsOptions({ certificatePem, keyPem }: TlsMaterial) {
  return { cert: certificatePem, key: keyPem, minVersion: 'TLSv1.2' } as const;
}

/** Takes no connection any more, lets requests under way and on their way be answered, then closes. */
async function stopOn(
  server: Server,
  sockets: OpenSockets,
  requests: Requests,
  options: WebhookServerOptions,
): Promise<void> {
  const { signal, wire, drainMs } = options;
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
  requests.closing = true;
  // The HTTP server's own close would cut idle connections at once.
  const closed = new Promise<void>((resolve) => {
    NetServer.prototype.close.call(server, () => resolve());
  });
  // A connection that is answered from now on is closed with the answer; one that stays unused is cut.
  using _linger = wire.setTimer(LINGER_MS, () => sockets.closeUnused());
  using _drain = wire.setTimer(Math.max(drainMs, LINGER_MS), () => {
    requests.cut();
    sockets.closeAll();
  });
  await closed;
  // Only for its housekeeping: there is nothing left to close.
  server.close(() => undefined);
  requests[Symbol.dispose]();
}

/** OpenSockets knows which connections there are, and which of them wait for an answer. */
class OpenSockets {
  readonly #all = new Set<Socket>();
  readonly #unused = new Set<Socket>();

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      this.#all.add(socket);
      socket.once('close', () => this.#all.delete(socket));
    });
    server.on('secureConnection', (socket) => {
      this.#unused.add(socket);
      socket.once('close', () => this.#unused.delete(socket));
    });
    server.on('request', (request, response) => {
      const { socket } = request;
      this.#unused.delete(socket);
      response.once('close', () => {
        if (!socket.destroyed) this.#unused.add(socket);
      });
    });
  }

  closeUnused(): void {
    for (const socket of this.#unused) socket.destroy();
  }

  closeAll(): void {
    for (const socket of this.#all) socket.destroy();
  }
}

/** Requests answers the requests of one server. */
class Requests implements Disposable {
  closing = false;
  readonly #options: WebhookServerOptions;
  readonly #routes: ReadonlyMap<string, Route>;
  readonly #limit: WorkLimit;
  readonly #metrics: WebhookMetrics;
  readonly #cut = new AbortController();

  constructor(options: WebhookServerOptions) {
    this.#options = options;
    this.#routes = routesByPath(options.routes);
    this.#limit = new WorkLimit(options.maxInFlight);
    this.#metrics = new WebhookMetrics(
      options.metrics,
      options.routes.map(({ name }) => name),
    );
    setMaxListeners(0, this.#cut.signal);
  }

  /** cut ends everything under way. */
  cut(): void {
    this.#cut.abort(new HttpProblem(503, 'the webhook server stops'));
  }

  [Symbol.dispose](): void {
    this.#metrics[Symbol.dispose]();
  }

  /** handle never rejects: whatever happens becomes an answer, if there is still somebody to hear it. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = '/', search = ''] = (request.url ?? '/').split('?', 2);
    const route = this.#routes.get(path);
    if (!route) {
      const there = describeRoutes(this.#options.routes);
      this.#refuse(request, response, new HttpProblem(404, `there is no webhook at this path; there is ${there}`));
      return;
    }
    const { wire } = this.#options;
    const startedAt = wire.monotonic();
    this.#metrics.started(route.name);
    using scope = new RequestScope({
      signal: this.#cut.signal,
      wire,
      timeoutMs: timeLimit(route, search),
      onTimeout: () => new HttpProblem(504, `the webhook ${route.name} did not answer in time`),
    });
    const gone = (): void => scope.cancel(new HttpProblem(499, 'the caller did not wait for the answer'));
    response.once('close', gone);
    let code = 200;
    try {
      this.#send(response, 200, 'application/json', JSON.stringify(await this.#answer(route, request, scope)));
    } catch (error) {
      const problem = error instanceof HttpProblem ? error : new HttpProblem(500, `the webhook ${route.name} failed`);
      if (problem !== error) this.#options.log.error('webhook request failed', { webhook: route.name, error });
      if (problem.status === 504) this.#options.log.warn('webhook did not answer in time', { webhook: route.name });
      code = problem.status;
      this.#refuse(request, response, problem);
    } finally {
      response.off('close', gone);
      this.#metrics.finished(route.name, code, wire.monotonic() - startedAt);
    }
  }

  async #answer(route: Route, request: IncomingMessage, scope: RequestScope): Promise<object> {
    if (request.method !== 'POST') throw new HttpProblem(405, 'only POST is served here');
    const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
    if (type !== 'application/json') throw new HttpProblem(415, 'the body must be application/json');
    return await this.#limit.run(scope, async (signal) => {
      const body = await readBody(request, this.#options.maxBodyBytes, signal);
      return await route.answer(body, signal);
    });
  }

  #refuse(request: IncomingMessage, response: ServerResponse, problem: HttpProblem): void {
    if (!request.complete) {
      // A body that was not read to its end is drained, so that the answer arrives, but not for ever.
      response.shouldKeepAlive = false;
      let left = 2 * this.#options.maxBodyBytes;
      request.on('data', (chunk: Buffer) => {
        left -= chunk.length;
        if (left < 0) request.destroy();
      });
    }
    this.#send(response, problem.status, 'text/plain; charset=utf-8', `${problem.message}\n`);
  }

  #send(response: ServerResponse, status: number, type: string, body: string): void {
    if (response.destroyed || response.headersSent) return;
    if (this.closing) response.shouldKeepAlive = false;
    response.writeHead(status, {
      'content-type': type,
      'content-length': Buffer.byteLength(body),
      'x-content-type-options': 'nosniff',
      ...(status === 405 ? { allow: 'POST' } : {}),
    });
    response.end(body);
  }
}

/** A twentieth, at least a tenth of a second: the answer has to travel, and "too late" should be ours to say. */
function timeLimit(route: Route, search: string): number {
  const asked = new URLSearchParams(search).get('timeout');
  const waitsMs = Math.min(route.timeoutMs, LONGEST_REVIEW_MS, durationOf(asked) ?? LONGEST_REVIEW_MS);
  return Math.max(50, waitsMs - Math.max(100, waitsMs / 20));
}

/** The API server says how long it waits: the webhook's timeoutSeconds, or less when the user's request ends earlier. */
function durationOf(text: string | null): number | undefined {
  if (text === null) return undefined;
  try {
    const ms = parseDuration(text);
    return ms > 0 ? ms : undefined;
  } catch {
    return undefined;
  }
}
