import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { PeerCertificate, TLSSocket } from 'node:tls';
import { badRequest, StatusError, tooLarge } from '../status/api-status.ts';
import type { ApiConnection, ApiRequest, ApiResponse } from './api-request.ts';

/** ListenOptions says where and how the API is served. */
export interface ListenOptions {
  readonly handle: (request: ApiRequest) => Promise<ApiResponse>;
  /** Defaults to 127.0.0.1. */
  readonly host?: string | undefined;
  /** Defaults to a free one. */
  readonly port?: number | undefined;
  /** Serve HTTPS; clients may show certificates of `clientAuthority`. Defaults to plain HTTP. */
  readonly tls?: { readonly certificate: string; readonly key: string; readonly clientAuthority: string } | undefined;
}

/** Listener is a served address. */
export interface Listener extends AsyncDisposable {
  readonly port: number;
  /** close ends every connection and resolves when the port is free. */
  close(): Promise<void>;
}

/** As the real server: Node's own limit is far lower. */
const MOST_HEAD_BYTES = 1024 * 1024;

/** Names that only HTTP/1.1 has, or that begin with a colon in HTTP/2. */
const NOT_A_HEADER = /^:|^(connection|keep-alive|transfer-encoding)$/;

/** listen serves the API over HTTP/1.1, and over HTTP/2 where there is TLS. */
export async function listen(options: ListenOptions): Promise<Listener> {
  const { handle, tls, host = '127.0.0.1', port = 0 } = options;
  const open = new Set<{ destroy(): void }>();
  const serve = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    // The promise ends with the answer; an error of ours must not take the process with it.
    answer(incoming, outgoing, handle).catch(() => outgoing.destroy());
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
          // As the real server: a client that opens more waits.
          settings: { maxConcurrentStreams: 250, maxHeaderListSize: MOST_HEAD_BYTES },
        },
        // Node gives requests of HTTP/2 the same methods; only its types keep the two apart.
        serve as never,
      )
    : createServer(serve);
  // Node has no option for it where one server speaks both; its parser of HTTP/1.1 reads it here.
  Object.assign(server, { maxHeaderSize: MOST_HEAD_BYTES });
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

async function answer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  handle: ListenOptions['handle'],
): Promise<void> {
  const gone = new AbortController();
  outgoing.on('close', () => gone.abort());
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
    signal: gone.signal,
    connection: connectionOf(incoming),
  });
  if (gone.signal.aborted) return;
  const { body } = response;
  for (const [name, value] of Object.entries(response.headers)) outgoing.setHeader(name, value);
  outgoing.statusCode = response.status;
  if (typeof body === 'string' || body instanceof Uint8Array) {
    outgoing.setHeader('content-length', Buffer.byteLength(body));
    // Node writes headers and a text in one piece, in the encoding of the text: the bytes of a warning would be encoded again.
    outgoing.end('warning' in response.headers ? Buffer.from(body as string) : body);
    return;
  }
  // A watch has no first byte for a long time; its client waits for the headers.
  outgoing.flushHeaders();
  for await (const chunk of body) {
    if (gone.signal.aborted) return;
    if (!outgoing.write(chunk)) await drained(outgoing, gone.signal);
  }
  outgoing.end();
}

/** Node gives names and values in turns, and joins the values of a name that stands twice unless they are asked for like this. */
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
    // A client that is gone is no failure of ours.
    throw error instanceof StatusError ? error : badRequest('unexpected EOF');
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size);
}

/** Reading a certificate takes longer than most answers, and a connection has the same one for all of its requests. */
const connections = new WeakMap<object, ApiConnection>();

function connectionOf(incoming: IncomingMessage): ApiConnection {
  // With HTTP/2 every request has a socket object of its own; the session is what they share.
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
  // Empty, whatever the types say, when none was shown.
  const { subject, fingerprint256 } = secure.getPeerCertificate() as Partial<PeerCertificate>;
  if (!subject) return { remoteAddress, isSecure: true };
  if (!secure.authorized) return { remoteAddress, isSecure: true, hasInvalidCertificate: true };
  const organizations = [subject.O ?? []].flat();
  const fingerprint = fingerprint256?.replaceAll(':', '').toLowerCase();
  const commonName = [subject.CN].flat()[0] ?? '';
  return { remoteAddress, isSecure: true, certificate: { commonName, organizations, fingerprint } };
}
