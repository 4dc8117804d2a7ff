import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { PeerCertificate, TLSSocket } from 'node:tls';
import { badRequest, StatusError, tooLarge } from '../status/api-status.ts';
import type { ApiConnection, ApiRequest, ApiResponse } from './api-request.ts';

/** ListenOptions configures where and how the API is served. */
export interface ListenOptions {
  readonly handle: (request: ApiRequest) => Promise<ApiResponse>;
  /** Defaults to 127.0.0.1. */
  readonly host?: string | undefined;
  /** Defaults to a free port. */
  readonly port?: number | undefined;
  /** Serves HTTPS; clients may send certificates of `clientAuthority`. Defaults to plain HTTP. */
  readonly tls?: { readonly certificate: string; readonly key: string; readonly clientAuthority: string } | undefined;
}

/** Listener is an address that is being served. */
export interface Listener extends AsyncDisposable {
  readonly port: number;
  /** close closes every connection and resolves when the port is free. */
  close(): Promise<void>;
}

/** As in the real server: Node's default limit is far lower. */
const MAX_HEAD_BYTES = 1024 * 1024;

/** Names that only HTTP/1.1 has, or that start with a colon in HTTP/2. */
const NOT_A_HEADER = /^:|^(connection|keep-alive|transfer-encoding)$/;

/** listen serves the API over HTTP/1.1, and with TLS also over HTTP/2. */
export async function listen(options: ListenOptions): Promise<Listener> {
  const { handle, tls, host = '127.0.0.1', port = 0 } = options;
  const open = new Set<{ destroy(): void }>();
  const serve = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    // The promise settles with the response; a bug of ours must not crash the process.
    respond(incoming, outgoing, handle).catch(() => outgoing.destroy());
  };
  const server = tls
    ? createSecureServer(
        {
          allowHTTP1: true,
          cert: tls.certificate,
          key: tls.key,
          ca: tls.clientAuthority,
          requestCert: true,
          rejectUnauthorized: false,
          // As in the real server: a client that opens more streams waits.
          settings: { maxConcurrentStreams: 250, maxHeaderListSize: MAX_HEAD_BYTES },
        },
        // Node's HTTP/2 requests have the same methods; only the types differ.
        serve as never,
      )
    : createServer(serve);
  // Node has no option for this on a server of both protocols; its HTTP/1.1 parser reads this property.
  Object.assign(server, { maxHeaderSize: MAX_HEAD_BYTES });
  server.on('session', (session: { destroy(): void; on(event: 'close', done: () => void): void }) => {
    open.add(session);
    session.on('close', () => open.delete(session));
  });
  server.on('connection', (socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const each of open) each.destroy();
    });
  return { port: (server.address() as AddressInfo).port, close, [Symbol.asyncDispose]: close };
}

/** Every request ends with it: without a reason of ours, each abort would create an exception with a stack trace. */
const CLOSED = new Error('the client has received the response or disconnected');

async function respond(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  handle: ListenOptions['handle'],
): Promise<void> {
  const disconnected = new AbortController();
  outgoing.on('close', () => disconnected.abort(CLOSED));
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined && !NOT_A_HEADER.test(name)) headers[name] = Array.isArray(value) ? value.join(',') : value;
  }
  const response = await handle({
    method: incoming.method ?? 'GET',
    url: incoming.url ?? '/',
    headers,
    headerLines: () => linesOf(incoming.rawHeaders),
    body: (limit) => readBody(incoming, limit),
    signal: disconnected.signal,
    connection: connectionOf(incoming),
  });
  if (disconnected.signal.aborted) return;
  const { body } = response;
  for (const [name, value] of Object.entries(response.headers)) outgoing.setHeader(name, value);
  outgoing.statusCode = response.status;
  if (typeof body === 'string' || body instanceof Uint8Array) {
    outgoing.setHeader('content-length', Buffer.byteLength(body));
    // Node writes headers and a string body together, in the encoding of the body: the bytes of a warning would be
    // encoded twice.
    outgoing.end('warning' in response.headers ? Buffer.from(body as string) : body);
    return;
  }
  // A watch may send no data for a long time; its client waits for the headers.
  outgoing.flushHeaders();
  for await (const chunk of body) {
    if (disconnected.signal.aborted) return;
    if (!outgoing.write(chunk)) await drained(outgoing, disconnected.signal);
  }
  outgoing.end();
}

/**
 * linesOf pairs the raw headers, in which names and values alternate; Node joins the values of duplicate headers
 * elsewhere.
 */
function linesOf(raw: readonly string[]): (readonly [string, string])[] {
  const lines: (readonly [string, string])[] = [];
  for (let index = 0; index + 1 < raw.length; index += 2)
    lines.push([(raw[index] ?? '').toLowerCase(), raw[index + 1] ?? '']);
  return lines;
}

function drained(outgoing: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off('drain', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    outgoing.on('drain', done);
    signal.addEventListener('abort', done);
  });
}

async function readBody(incoming: IncomingMessage, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of incoming as AsyncIterable<Uint8Array>) {
      size += chunk.byteLength;
      if (size > limit) throw tooLarge(limit);
      chunks.push(chunk);
    }
  } catch (error) {
    // A client that disconnects is not an error of the server.
    throw error instanceof StatusError ? error : badRequest('unexpected EOF');
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size);
}

/** Parsing a certificate takes longer than most responses, and all requests of a connection have the same one. */
const connections = new WeakMap<object, ApiConnection>();

function connectionOf(incoming: IncomingMessage): ApiConnection {
  // With HTTP/2 every request has its own socket object; the session is shared.
  const key = (incoming as { stream?: { session?: object } }).stream?.session ?? incoming.socket;
  const known = connections.get(key);
  if (known) return known;
  const connection = readConnection(incoming);
  connections.set(key, connection);
  return connection;
}

function readConnection({ socket }: IncomingMessage): ApiConnection {
  const remoteAddress = socket.remoteAddress ?? '';
  if (!('encrypted' in socket)) return { remoteAddress, isSecure: false };
  const secure = socket as unknown as TLSSocket;
  // Empty, despite the types, if no certificate was sent.
  const { subject, fingerprint256 } = secure.getPeerCertificate() as Partial<PeerCertificate>;
  if (!subject) return { remoteAddress, isSecure: true };
  if (!secure.authorized) return { remoteAddress, isSecure: true, hasInvalidCertificate: true };
  const organizations = [subject.O ?? []].flat();
  const fingerprint = fingerprint256?.replaceAll(':', '').toLowerCase();
  const commonName = [subject.CN].flat()[0] ?? '';
  return { remoteAddress, isSecure: true, certificate: { commonName, organizations, fingerprint } };
}
