import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BowlineError } from '../errors/bowline-error.ts';
import { type HealthReport, isHealthy, renderHealth } from './health.ts';
import { type ListenAddress, listenError, parseListenAddress } from './listen-address.ts';

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

type Answer = { readonly status: number; readonly type?: string; readonly body: string };
type Routes = Readonly<Record<string, (query: URLSearchParams) => Answer | Promise<Answer>>>;

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
  const metricsRoutes: Routes = {
    '/metrics': async () => ({
      status: 200,
      type: options.metrics.contentType,
      body: await options.metrics.render(),
    }),
  };
  // One address twice means one server; port 0 never is the same one.
  const shared = health !== undefined && healthText === metricsText && health.port !== 0;

  options.signal.throwIfAborted();
  const servers: Server[] = [];
  try {
    let healthPort: number | undefined;
    let metricsPort: number | undefined;
    if (health) {
      const routes = shared ? { ...healthRoutes, ...metricsRoutes } : healthRoutes;
      healthPort = await open(servers, routes, health, healthText, 'healthAddress');
      if (shared) metricsPort = healthPort;
    }
    if (metrics && !shared) metricsPort = await open(servers, metricsRoutes, metrics, metricsText, 'metricsAddress');
    return { healthPort, metricsPort, stopped: closeOn(options.signal, servers) };
  } catch (error) {
    await Promise.all(servers.map(close));
    throw error;
  }
}

async function open(
  servers: Server[],
  routes: Routes,
  address: ListenAddress,
  text: string,
  option: string,
): Promise<number> {
  const server = createServer(LIMITS, (request, response) => void respond(routes, request, response));
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
      answer = await route(new URLSearchParams(search));
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
