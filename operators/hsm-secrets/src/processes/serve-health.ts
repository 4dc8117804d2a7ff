import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { untilAborted } from '@bowline/machinery';
import { type ListenOptions, listen } from './listen.ts';

/** HealthOptions configures what is served where. */
export interface HealthOptions extends ListenOptions {
  /** Returns, by path, why a check fails; undefined if it passes. */
  readonly checks: Readonly<Record<string, () => string | undefined>>;
  /** Called with the port when the server listens. Defaults to nothing. */
  readonly onListening?: ((port: number) => void) | undefined;
}

/** Probes are small: a client that sends more or waits longer is no probe. */
const LIMITS = { maxHeaderSize: 8 * 1024, requestTimeout: 10_000, headersTimeout: 5_000, keepAliveTimeout: 5_000 };
const MAX_CONNECTIONS = 50;

/**
 * serveHealth serves the probes of a container until the signal is aborted, and resolves when every socket is closed. It
 * rejects with BOWLINE_ADDRESS_* if it cannot listen.
 */
export async function serveHealth(options: HealthOptions, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const server = serverOf(options.checks);
  await listen(server, options);
  options.onListening?.((server.address() as AddressInfo).port);
  await untilAborted(signal);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function serverOf(checks: HealthOptions['checks']): Server {
  const server = createServer(LIMITS, (request, response) => {
    request.resume();
    const [path = '/'] = (request.url ?? '/').split('?', 1);
    const check = Object.hasOwn(checks, path) ? checks[path] : undefined;
    const problem = check?.();
    const status = problem === undefined ? 200 : 503;
    response.writeHead(check ? status : 404, {
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
    });
    response.end(check ? (problem ?? 'ok') : `not found; served are ${Object.keys(checks).join(', ')}\n`);
  });
  server.maxConnections = MAX_CONNECTIONS;
  return server;
}
