import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, systemClock } from '@bowline/machinery';
import type { Client } from '../client/client.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import { type Log, silentLog } from '../observability/log.ts';
import { type HealthReport, isHealthy, renderHealth } from './health.ts';
import { type ListenAddress, listenError, parseListenAddress } from './listen-address.ts';
import { MetricsAccess, type Verdict } from './metrics-access.ts';
import { metricsCertificate } from './metrics-certificate.ts';

/** MetricsSecurity lets only those read metrics who may, and nobody listen. */
export interface MetricsSecurity {
  /** Asks the API server who somebody is and what they may: needs create on tokenreviews and subjectaccessreviews. */
  readonly client: Pick<Client, 'create'>;
  /** A folder with tls.crt and tls.key, read again when they change. Defaults to a certificate that is made up at the start. */
  readonly certificateFolder?: string | undefined;
}

/** OperationsServerOptions says what is served where. */
export interface OperationsServerOptions {
  /** Where `/healthz`, `/livez` and `/readyz` listen: `host:port`, `:port`, or `0` for nowhere. Defaults to `:8081`. */
  readonly healthAddress?: string;
  /** Where `/metrics` listens; may equal healthAddress. Defaults to `:8080`. */
  readonly metricsAddress?: string;
  /** Whether the process should live on. */
  readonly live: () => HealthReport;
  /** Whether it can do its work. */
  readonly ready: () => HealthReport;
  readonly metrics: { render(): Promise<string>; readonly contentType: string };
  /** Serve metrics over HTTPS, to bearers of a token that may `get` the URL `/metrics`. Defaults to HTTP for everybody. */
  readonly metricsSecurity?: MetricsSecurity | undefined;
  /** Times the memory of access reviews. Defaults to the system's. */
  readonly wire?: Clock | undefined;
  /** Defaults to silence. */
  readonly log?: Log | undefined;
  /** Stops the servers. */
  readonly signal: AbortSignal;
}

/** OperationsServer is the running servers. */
export interface OperationsServer {
  /** The port that health is served on; undefined when it is not. */
  readonly healthPort: number | undefined;
  /** The port that metrics are served on; undefined when they are not. */
  readonly metricsPort: number | undefined;
  /** Settles once the signal was aborted and every socket is closed. */
  readonly stopped: Promise<void>;
}

/** Probes and scrapes are small: whoever sends or waits longer than this is not one of them. */
const LIMITS = { maxHeaderSize: 8 * 1024, requestTimeout: 10_000, headersTimeout: 5_000, keepAliveTimeout: 30_000 };
const MOST_CONNECTIONS = 100;

interface Answer {
  readonly status: number;
  readonly type?: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}
type Route = (query: URLSearchParams, request: IncomingMessage) => Answer | Promise<Answer>;
type Routes = Readonly<Record<string, Route>>;

/**
 * startOperationsServer serves probes and metrics on every replica, leader or not. Resolves when it listens; rejects
 * with BOWLINE_ADDRESS_* when it cannot, and then nothing is left open.
 */
export async function startOperationsServer(options: OperationsServerOptions): Promise<OperationsServer> {
  const healthText = options.healthAddress ?? ':8081';
  const metricsText = options.metricsAddress ?? ':8080';
  const health = parseListenAddress(healthText, 'healthAddress');
  const metrics = parseListenAddress(metricsText, 'metricsAddress');
  const healthRoutes: Routes = {
    '/healthz': (query) => healthAnswer('healthz', options.live, query),
    '/livez': (query) => healthAnswer('livez', options.live, query),
    '/readyz': (query) => healthAnswer('readyz', options.ready, query),
  };
  const metricsRoutes: Routes = { '/metrics': metricsRoute(options) };
  // One address twice means one server; port 0 never is the same one.
  const shared = health !== undefined && healthText === metricsText && health.port !== 0;

  if (shared && options.metricsSecurity) {
    throw new BowlineError(
      'BOWLINE_ADDRESS_INVALID',
      `cannot serve secure metrics and probes both on ${healthText}: give metricsAddress another port`,
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

/** Node's own servers are loaded by whoever serves: a manager without addresses starts sooner. */
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

const REFUSALS: Readonly<Record<Exclude<Verdict, 'allowed'>, Answer>> = {
  unauthenticated: {
    status: 401,
    body: 'send a bearer token that the API server knows\n',
    headers: { 'www-authenticate': 'Bearer' },
  },
  forbidden: { status: 403, body: 'you may not get the URL /metrics; bind a ClusterRole that allows it\n' },
  unavailable: { status: 503, body: 'the API server cannot be asked at the moment\n', headers: { 'retry-after': '5' } },
};

function metricsRoute({
  metrics,
  metricsSecurity,
  wire = systemClock,
  log = silentLog,
}: OperationsServerOptions): Route {
  const access = metricsSecurity && new MetricsAccess({ client: metricsSecurity.client, wire, log });
  return async (_, request) => {
    const verdict = access ? await access.decide(request.headers.authorization) : 'allowed';
    if (verdict !== 'allowed') return REFUSALS[verdict];
    return { status: 200, type: metrics.contentType, body: await metrics.render() };
  };
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
  server.maxConnections = MOST_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(text, option, error)));
    server.listen({ port: address.port, host: address.host }, resolve);
  });
  servers.push(server);
  return (server.address() as AddressInfo).port;
}

async function respond(routes: Routes, request: IncomingMessage, response: ServerResponse): Promise<void> {
  // Bodies are never wanted: refuse them unread.
  request.resume();
  const [path = '/', search = ''] = (request.url ?? '/').split('?', 2);
  const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
  let answer: Answer;
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    answer = { status: 405, body: 'only GET is served here\n' };
  } else if (!route) {
    answer = { status: 404, body: `not found; there is ${Object.keys(routes).join(', ')}\n` };
  } else {
    try {
      answer = await route(new URLSearchParams(search), request);
    } catch (error) {
      // A bug in a check must not take the probes down; its text stays inside.
      const code = error instanceof BowlineError ? error.code : 'unexpected error';
      answer = { status: 500, body: `${path} could not be answered: ${code}\n` };
    }
  }
  response.writeHead(answer.status, {
    'content-type': answer.type ?? 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(answer.body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(answer.status === 405 ? { allow: 'GET, HEAD' } : {}),
    ...answer.headers,
  });
  response.end(request.method === 'HEAD' ? undefined : answer.body);
}

function healthAnswer(endpoint: string, check: () => HealthReport, query: URLSearchParams): Answer {
  const report = check();
  const ok = isHealthy(report);
  // As with kube-apiserver: details when asked for, and always when something failed.
  const body = ok && !query.has('verbose') ? 'ok' : renderHealth(endpoint, report);
  return { status: ok ? 200 : 503, body };
}

function closeOn(signal: AbortSignal, servers: readonly Server[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => void Promise.all(servers.map(close)).then(() => resolve(), reject);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

/** Answers under way are cut: a probe that gets none is as good as one that is refused a moment later. */
function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
