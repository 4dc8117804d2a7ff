import { createServer as createHttp1Server, type Server as Http1Server, type RequestListener } from 'node:http';
import {
  createSecureServer,
  type IncomingHttpHeaders,
  type SecureServerOptions,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { type CertificateWithKey, createCertificateAuthority, issueCertificate } from '@bowline/machinery';
import type { ConnectionConfig } from './connection-config.ts';
import type { TransportRequest, TransportResponse } from './transport.ts';

/** The certificates of all test servers. They are created once because generating keys is slow. */
export interface Pki {
  readonly authority: CertificateWithKey;
  readonly server: CertificateWithKey;
  readonly client: CertificateWithKey;
}

let shared: Promise<Pki> | undefined;

export function pki(): Promise<Pki> {
  shared ??= makePki();
  return shared;
}

export async function makePki(): Promise<Pki> {
  const authority = await createCertificateAuthority({ commonName: 'test authority' });
  const server = await issueCertificate({
    authority,
    commonName: 'localhost',
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
    usages: ['server'],
  });
  const client = await issueCertificate({ authority, commonName: 'tester', usages: ['client'] });
  return { authority, server, client };
}

/** TestServer is a listening server and the configuration that reaches it. */
export interface TestServer extends AsyncDisposable {
  readonly port: number;
  readonly config: ConnectionConfig;
  /** The number of connections accepted so far. */
  readonly connections: () => number;
}

export interface Http2TestServer extends TestServer {
  readonly sessions: readonly ServerHttp2Session[];
}

/** http2Server starts an HTTP/2 server that handles streams with `onStream`. */
export async function http2Server(
  onStream: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void,
  options: SecureServerOptions = {},
): Promise<Http2TestServer> {
  const { authority, server: leaf } = await pki();
  const server = createSecureServer({ key: leaf.keyPem, cert: leaf.certificatePem, ...options });
  const sessions: ServerHttp2Session[] = [];
  server.on('session', (session) => {
    sessions.push(session);
    session.on('error', () => {});
  });
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    onStream(stream, headers);
  });
  server.on('sessionError', () => {});
  const base = await listen(server, (port) => ({ server: `https://127.0.0.1:${port}`, ca: authority.certificatePem }));
  return { ...base, sessions };
}

/** http1Server starts an HTTP/1.1 server, with TLS unless `plain`. */
export async function http1Server(listener: RequestListener, plain = false): Promise<TestServer> {
  if (plain) {
    return listen(createHttp1Server(listener), (port) => ({ server: `http://127.0.0.1:${port}` }));
  }
  const { authority, server: leaf } = await pki();
  const server = createHttpsServer({ key: leaf.keyPem, cert: leaf.certificatePem }, listener);
  return listen(server, (port) => ({ server: `https://127.0.0.1:${port}`, ca: authority.certificatePem }));
}

/**
 * Relay forwards bytes between a client and a server until it is told to hold them, which simulates a half-open
 * connection.
 */
export interface Relay extends AsyncDisposable {
  readonly port: number;
  readonly connections: () => number;
  /** hold stops forwarding bytes on the existing connections; `cut` resets them. */
  hold(): void;
  cut(): void;
}

export async function relayTo(port: number): Promise<Relay> {
  let pairs: [Socket, Socket][] = [];
  const server = createServer((inner) => {
    const outer = connect(port, '127.0.0.1');
    for (const socket of [inner, outer]) socket.on('error', () => {});
    inner.pipe(outer);
    outer.pipe(inner);
    pairs.push([inner, outer]);
  });
  const base = await listen(server, () => ({ server: '' }));
  return {
    port: base.port,
    connections: base.connections,
    hold() {
      for (const [inner, outer] of pairs) {
        inner.unpipe(outer);
        outer.unpipe(inner);
        inner.pause();
        outer.pause();
      }
      pairs = [];
    },
    cut() {
      for (const [inner, outer] of pairs) {
        inner.resetAndDestroy();
        outer.resetAndDestroy();
      }
      pairs = [];
    },
    [Symbol.asyncDispose]: base[Symbol.asyncDispose],
  };
}

/** listen binds a server to a free loopback port and counts its connections. */
export async function listen(
  server: Server | Http1Server,
  config: (port: number) => ConnectionConfig,
): Promise<TestServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    config: config(port),
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** get returns a GET request of the call lane, with the fields in `more` overridden. */
export function get(path: string, more: Partial<TransportRequest> = {}): TransportRequest {
  return { method: 'GET', path, lane: 'call', ...more };
}

/** until waits for a state and checks it on every turn of the event loop. */
export async function until(state: () => boolean): Promise<void> {
  while (!state()) await new Promise<void>((resolve) => setImmediate(resolve));
}

/** outcome resolves to a response's text, or to the error. */
export function outcome(response: Promise<TransportResponse>): Promise<unknown> {
  return response.then((received) => received.text()).catch((error: unknown) => error);
}
