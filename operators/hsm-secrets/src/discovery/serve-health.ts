import { createServer, type Server } from 'node:http';
import type { AddressInfo, Server as NetServer } from 'node:net';
import { BowlineError, untilAborted } from '@bowline/machinery';

/** HealthOptions configures what is served where. */
export interface HealthOptions {
  /** `host:port`, or `:port` for all addresses. Port 0 is any free port. */
  readonly address: string;
  /** The flag that sets the address, for errors. */
  readonly flag: string;
  /** Returns, by path, why a check fails; undefined if it passes. */
  readonly checks: Readonly<Record<string, () => string | undefined>>;
  /** Called with the port when the server listens. Defaults to nothing. */
  readonly onListening?: ((port: number) => void) | undefined;
}

/** HEALTH_ADDRESS is the pattern of an address. */
export const HEALTH_ADDRESS = '^(\\[[0-9a-fA-F:.]+\\]|[^:\\[\\]]*):[0-9]{1,5}$';

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

/** listen resolves when a server listens on `host:port` or `:port`; rejects with BOWLINE_ADDRESS_* if it cannot. */
export async function listen(
  server: NetServer,
  { address, flag }: Pick<HealthOptions, 'address' | 'flag'>,
): Promise<void> {
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[|\]$/g, '');
  const port = Number(address.slice(colon + 1));
  if (!new RegExp(HEALTH_ADDRESS).test(address) || port > 65_535)
    throw new BowlineError(
      'BOWLINE_ADDRESS_INVALID',
      `cannot listen on ${JSON.stringify(address)}: set ${flag} to host:port or :port`,
    );
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const code = cause.code === 'EADDRINUSE' ? 'BOWLINE_ADDRESS_IN_USE' : 'BOWLINE_ADDRESS_UNAVAILABLE';
      const problem = `cannot listen on ${address} (${cause.code}); choose another address with ${flag}`;
      reject(new BowlineError(code, problem, { cause }));
    });
    server.listen({ port, ...(host ? { host } : {}) }, resolve);
  });
}
