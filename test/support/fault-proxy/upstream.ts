import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type OutgoingHttpHeaders,
} from 'node:http2';
import type { ConnectionConfig } from '@bowline/runtime/client';
import { Http1Stream } from './http1-stream.ts';

/** Hop-by-hop headers, which must not be forwarded. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]);

/** endToEnd returns the end-to-end headers. */
export function endToEnd(headers: Readonly<Record<string, unknown>>): OutgoingHttpHeaders {
  const out: OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith(':') || HOP_BY_HOP.has(name) || value === undefined) continue;
    out[name] = Array.isArray(value) ? value.map(String) : String(value);
  }
  return out;
}

/**
 * Upstream is the real server behind the proxy. Each front connection gets its own HTTP/2 session there, so that the server's
 * limit on streams per connection stays visible to the client. A server at `http:` is accessed with HTTP/1.1.
 */
export class Upstream implements AsyncDisposable {
  readonly #config: ConnectionConfig;
  readonly #sessions = new Map<object, Promise<ClientHttp2Session>>();

  constructor(config: ConnectionConfig) {
    this.#config = config;
  }

  /** request opens a stream for a front connection. A client without a token uses the proxy's own identity. */
  async request(
    connection: object,
    method: string,
    path: string,
    headers: OutgoingHttpHeaders,
    endStream: boolean,
  ): Promise<ClientHttp2Stream | Http1Stream> {
    const own = headers.authorization === undefined ? await this.#config.credentials?.headers() : undefined;
    const prefix = new URL(this.#config.server).pathname.replace(/\/$/, '');
    if (this.#config.server.startsWith('http:')) {
      const stream = new Http1Stream(new URL(prefix + path, this.#config.server), method, { ...headers, ...own });
      if (endStream) stream.end();
      return stream;
    }
    const session = await this.#session(connection);
    return session.request(
      {
        ...headers,
        ...own,
        [constants.HTTP2_HEADER_METHOD]: method,
        [constants.HTTP2_HEADER_PATH]: prefix + path,
      },
      { endStream },
    );
  }

  /** forget ends the session of a closed front connection. */
  async forget(connection: object): Promise<void> {
    const session = this.#sessions.get(connection);
    this.#sessions.delete(connection);
    (await session?.catch(() => undefined))?.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#sessions.keys()].map((connection) => this.forget(connection)));
  }

  #session(connection: object): Promise<ClientHttp2Session> {
    const existing = this.#sessions.get(connection);
    if (existing) return existing;
    const opening = this.#open();
    this.#sessions.set(connection, opening);
    const forget = (): void => {
      if (this.#sessions.get(connection) === opening) this.#sessions.delete(connection);
    };
    opening.then((session) => session.once('close', forget).once('goaway', forget), forget);
    return opening;
  }

  async #open(): Promise<ClientHttp2Session> {
    const { ca, credentials, serverName } = this.#config;
    const certificate = await credentials?.certificate?.();
    const session = connect(this.#config.server, {
      ca: typeof ca === 'function' ? await ca() : ca,
      ...(serverName === undefined ? {} : { servername: serverName }),
      ...(certificate ? { cert: certificate.certificatePem, key: certificate.keyPem } : {}),
    });
    return await new Promise((resolve, reject) => {
      session.once('connect', () => resolve(session));
      session.on('error', reject);
    });
  }
}
