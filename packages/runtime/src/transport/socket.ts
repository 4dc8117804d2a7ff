import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { Clock } from '@bowline/machinery';
import type { ConnectionConfig } from './connection-config.ts';
import { secureContext } from './secure-context.ts';
import { connectError, type Endpoint, TransportError } from './transport-error.ts';

/** OpenSocket is a connected socket, verified if the server uses TLS. */
export interface OpenSocket {
  readonly socket: Socket;
  /** The protocol selected by the server: HTTP/2, or HTTP/1.1 for everything else. */
  readonly protocol: 'h2' | 'http/1.1';
  readonly certificatePem: string | undefined;
}

/** SocketOptions configures where to connect to and the timeout. */
export interface SocketOptions {
  readonly config: ConnectionConfig;
  readonly endpoint: Endpoint;
  readonly wire: Clock;
  readonly connectTimeoutMs: number;
  /** Aborted when the transport is closed. */
  readonly signal: AbortSignal;
}

/** TCP keep-alive is the only way to detect a dead HTTP/1.1 peer; HTTP/2 has PING. */
const TCP_KEEP_ALIVE_MS = 30_000;

/**
 * openSocket connects over TCP, the proxy's CONNECT and TLS. It rejects with a TransportError within the timeout and
 * leaves no socket open.
 */
export async function openSocket(options: SocketOptions): Promise<OpenSocket> {
  const opened: Socket[] = [];
  const work = establish(options, (socket) => {
    // The new owner of the socket adds its listeners a moment later; an error in between must not crash the process.
    socket.on('error', () => {});
    opened.push(socket);
  });
  let fail: (error: Error) => void = () => {};
  const ended = new Promise<never>((_, reject) => {
    fail = reject;
  });
  const timer = options.wire.setTimer(options.connectTimeoutMs, () => {
    fail(
      new TransportError(
        'BOWLINE_TRANSPORT_CONNECT_TIMEOUT',
        `${options.endpoint.server} (${options.endpoint.source}) did not accept a connection within ${options.connectTimeoutMs} ms: check the address, firewalls and proxy-url`,
      ),
    );
  });
  const onAbort = (): void => fail(options.signal.reason);
  options.signal.addEventListener('abort', onAbort);
  try {
    if (options.signal.aborted) throw options.signal.reason;
    return await Promise.race([work, ended]);
  } catch (error) {
    work.catch(() => {});
    for (const socket of opened) socket.destroy();
    throw options.signal.aborted ? error : connectError(error, options.endpoint);
  } finally {
    timer.cancel();
    options.signal.removeEventListener('abort', onAbort);
  }
}

async function establish(options: SocketOptions, opened: (socket: Socket) => void): Promise<OpenSocket> {
  const { config, endpoint } = options;
  const url = new URL(config.server);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const secure = url.protocol === 'https:';
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
  const ca = typeof config.ca === 'function' ? await config.ca() : config.ca;
  const certificate = secure ? await config.credentials?.certificate?.() : undefined;

  let raw: Socket;
  if (config.proxyUrl === undefined) {
    raw = connectTcp({ host, port });
    opened(raw);
    await once(raw, 'connect');
  } else {
    const { connectThroughProxy } = await import('./proxy.ts');
    raw = await connectThroughProxy({ proxyUrl: config.proxyUrl, host, port, endpoint, opened });
  }
  raw.setNoDelay(true);
  raw.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
  if (!secure) return { socket: raw, protocol: 'http/1.1', certificatePem: undefined };

  const servername = config.serverName ?? (isIP(host) === 0 ? host : undefined);
  const socket: TLSSocket = connectTls({
    socket: raw,
    // Without a server name the certificate is checked against `host`.
    host: config.serverName ?? host,
    ...(servername === undefined ? {} : { servername }),
    ALPNProtocols: ['h2', 'http/1.1'],
    secureContext: secureContext(ca, certificate),
    rejectUnauthorized: !(config.insecureSkipTlsVerify ?? false),
  });
  opened(socket);
  await once(socket, 'secureConnect');
  return {
    socket,
    protocol: socket.alpnProtocol === 'h2' ? 'h2' : 'http/1.1',
    certificatePem: certificate?.certificatePem,
  };
}

function once(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error): void => {
      socket.off(event, onReady);
      socket.off('close', onClose);
      socket.off('error', settle);
      if (error) reject(error);
      else resolve();
    };
    const onReady = (): void => settle();
    const onClose = (): void => settle(Object.assign(new Error('closed before it was ready'), { code: 'ECONNRESET' }));
    socket.on(event, onReady);
    socket.on('close', onClose);
    socket.on('error', settle);
  });
}
