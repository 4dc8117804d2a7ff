import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, systemClock } from '@bowline/machinery';
import { type AccessDecision, TokenAccess } from '../access/token-access.ts';
import type { Client } from '../client/client.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import { type Log, silentLog } from '../observability/log.ts';
import { type HealthReport, isHealthy, renderHealth } from './health.ts';
import { type ListenAddress, listenError, parseListenAddress } from './listen-address.ts';
import { metricsCertificate } from './metrics-certificate.ts';

/** MetricsSecurity serves metrics encrypted and to authorized clients only. */
export interface MetricsSecurity {
  /** Reviews tokens and permissions: needs create on tokenreviews and subjectaccessreviews. */
  readonly client: Pick<Client, 'create' | 'canSubject'>;
  /** A folder with tls.crt and tls.key, read again when they change. Defaults to a certificate generated at startup. */
  readonly certificateFolder?: string | undefined;
}

/** OperationsServerOptions configures what is served where. */
export interface OperationsServerOptions {
  /**
   * The listen address of `/healthz`, `/livez`, `/readyz` and `/startupz`: `host:port`, `:port`, or `0` for none.
   * Defaults to `:8081`.
   */
  readonly healthAddress?: string;
  /** The listen address of `/metrics`; may equal healthAddress. Defaults to `:8080`. */
  readonly metricsAddress?: string;
  /** Returns whether the process should keep running. */
  readonly live: () => HealthReport;
  /** Returns whether the process can do its work. */
  readonly ready: () => HealthReport;
  /**
   * Returns whether the process has started. It is not called again once it has been healthy: a process starts once.
   * Defaults to a process that has started.
   */
  readonly started?: (() => HealthReport) | undefined;
  readonly metrics: { render(): Promise<string>; readonly contentType: string };
  /**
   * Serves metrics over HTTPS to bearers of a token that may `get` the URL `/metrics`. Defaults to HTTP without
   * authorization.
   */
  readonly metricsSecurity?: MetricsSecurity | undefined;
  /** The clock for cached access reviews. Defaults to the system clock. */
  readonly wire?: Clock | undefined;
  /** Defaults to no logging. */
  readonly log?: Log | undefined;
  /** Stops the servers. */
  readonly signal: AbortSignal;
}

/** OperationsServer is the handle of the running servers. */
export interface OperationsServer {
  /** The port of the health endpoints; undefined if they are not served. */
  readonly healthPort: number | undefined;
  /** The port of the metrics; undefined if they are not served. */
  readonly metricsPort: number | undefined;
  /** Resolves once the signal was aborted and every socket is closed. */
  readonly stopped: Promise<void>;
}

/** Probes and scrapes are small: a client that sends more or waits longer is neither. */
const LIMITS = { maxHeaderSize: 8 * 1024, requestTimeout: 10_000, headersTimeout: 5_000, keepAliveTimeout: 30_000 };
const MAX_CONNECTIONS = 100;

interface HttpResponse {
  readonly status: number;
  readonly type?: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}
type Route = (query: URLSearchParams, request: IncomingMessage) => HttpResponse | Promise<HttpResponse>;
type Routes = Readonly<Record<string, Route>>;

/**
 * startOperationsServer serves probes and metrics on every replica, leader or not. It resolves when it listens, and
 * rejects with BOWLINE_ADDRESS_* if it cannot; then nothing is left open.
 */
export async function startOperationsServer(options: OperationsServerOptions): Promise<OperationsServer> {
  const healthText = options.healthAddress ?? ':8081';
  const metricsText = options.metricsAddress ?? ':8080';
  const health = parseListenAddress(healthText, 'healthAddress');
  const metrics = parseListenAddress(metricsText, 'metricsAddress');
  const healthRoutes: Routes = {
    '/healthz': (query) => healthResponse('healthz', options.live, query),
    '/livez': (query) => healthResponse('livez', options.live, query),
    '/readyz': (query) => healthResponse('readyz', options.ready, query),
    '/startupz': startupRoute(options.started),
  };
  const metricsRoutes: Routes = { '/metrics': metricsRoute(options) };
  // The same address twice means one server; port 0 is never the same one.
  const shared = health !== undefined && healthText === metricsText && health.port !== 0;

  if (shared && options.metricsSecurity) {
    throw new BowlineError(
      'BOWLINE_ADDRESS_INVALID',
      `cannot serve secure metrics and probes both on ${healthText}: set metricsAddress to another port`,
    );
  }

  options.signal.throwIfAborted();
  const servers: Server[] = [];
  try {
    let healthPort: number | undefined;
    let metricsPort: number | undefined;
    if (health) {
      const routes = shared ? { ...healthRoutes, ...metricsRoutes } : healthRoutes;
      healthPort = await open(servers, await plainServer(), routes, health, healthText, 'healthAddress');
      if (shared) metricsPort = healthPort;
    }
    if (metrics && !shared) {
      const server = options.metricsSecurity ? await secureServer(options) : await plainServer();
      metricsPort = await open(servers, server, metricsRoutes, metrics, metricsText, 'metricsAddress');
    }
    return { healthPort, metricsPort, stopped: closeOn(options.signal, servers) };
  } catch (error) {
    await Promise.all(servers.map(close));
    throw error;
  }
}

/** Node's server modules are loaded on demand: a manager without addresses starts faster. */
async function plainServer(): Promise<Server> {
  const { createServer } = await import('node:http');
  return createServer(LIMITS);
}

async function secureServer(options: OperationsServerOptions): Promise<Server> {
  const { signal, wire = systemClock, log = silentLog, metricsSecurity } = options;
  const folder = metricsSecurity?.certificateFolder;
  const { createServer } = await import('node:https');
  const first = await metricsCertificate({ folder, wire, log, signal }, (renewed) => server.setSecureContext(renewed));
  const server = createServer({ ...LIMITS, ...first });
  return server;
}

type MetricsVerdict = AccessDecision['verdict'] | 'unavailable';

const REFUSALS: Readonly<Record<Exclude<MetricsVerdict, 'allowed'>, HttpResponse>> = {
  unauthenticated: {
    status: 401,
    body: 'send a bearer token that the API server accepts\n',
    headers: { 'www-authenticate': 'Bearer' },
  },
  forbidden: { status: 403, body: 'you may not get the URL /metrics; bind a ClusterRole that grants it\n' },
  unavailable: {
    status: 503,
    body: 'the API server cannot be reached at the moment\n',
    headers: { 'retry-after': '5' },
  },
};

function metricsRoute({
  metrics,
  metricsSecurity,
  wire = systemClock,
  log = silentLog,
}: OperationsServerOptions): Route {
  // There are few scrapers. Further tokens are guesses, which must not exhaust memory or the API server.
  const limits = { clock: wire, maxCached: 256, maxInFlight: 8 };
  const access = metricsSecurity && new TokenAccess({ client: metricsSecurity.client, ...limits });
  return async (_, request) => {
    const verdict = access ? await decideMetrics(access, request.headers.authorization, log) : 'allowed';
    if (verdict !== 'allowed') return REFUSALS[verdict];
    return { status: 200, type: metrics.contentType, body: await metrics.render() };
  };
}

async function decideMetrics(
  access: TokenAccess,
  authorization: string | undefined,
  log: Log,
): Promise<MetricsVerdict> {
  try {
    return (await access.decide(authorization, { verb: 'get', path: '/metrics' })).verdict;
  } catch (error) {
    log.warn('cannot review access to the metrics', { error });
    return 'unavailable';
  }
}

async function open(
  servers: Server[],
  server: Server,
  routes: Routes,
  address: ListenAddress,
  text: string,
  option: string,
): Promise<number> {
  server.on('request', (request, response) => void respond(routes, request, response));
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(text, option, error)));
    server.listen({ port: address.port, host: address.host }, resolve);
  });
  servers.push(server);
  return (server.address() as AddressInfo).port;
}

async function respond(routes: Routes, request: IncomingMessage, response: ServerResponse): Promise<void> {
  // Bodies are never needed: discard them.
  request.resume();
  const [path = '/', search = ''] = (request.url ?? '/').split('?', 2);
  const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
  let result: HttpResponse;
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    result = { status: 405, body: 'only GET is served here\n' };
  } else if (!route) {
    result = { status: 404, body: `not found; served are ${Object.keys(routes).join(', ')}\n` };
  } else {
    try {
      result = await route(new URLSearchParams(search), request);
    } catch (error) {
      // A bug in a check must not break the probes; its message is not exposed.
      const code = error instanceof BowlineError ? error.code : 'unexpected error';
      result = { status: 500, body: `${path} failed: ${code}\n` };
    }
  }
  response.writeHead(result.status, {
    'content-type': result.type ?? 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(result.body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(result.status === 405 ? { allow: 'GET, HEAD' } : {}),
    ...result.headers,
  });
  response.end(request.method === 'HEAD' ? undefined : result.body);
}

function healthResponse(endpoint: string, check: () => HealthReport, query: URLSearchParams): HttpResponse {
  const report = check();
  const ok = isHealthy(report);
  // As in kube-apiserver: details on request, and always when a check failed.
  const body = ok && !query.has('verbose') ? 'ok' : renderHealth(endpoint, report);
  return { status: ok ? 200 : 503, body };
}

function startupRoute(started: OperationsServerOptions['started']): Route {
  let hasStarted = started === undefined;
  return (query) => {
    const report = hasStarted || !started ? STARTED : started();
    hasStarted = isHealthy(report);
    return healthResponse('startupz', () => report, query);
  };
}

const STARTED: HealthReport = { checks: [{ name: 'started', ok: true }] };

function closeOn(signal: AbortSignal, servers: readonly Server[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => void Promise.all(servers.map(close)).then(() => resolve(), reject);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

/** Active responses are cut: for a probe this is equivalent to a refused connection a moment later. */
function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
