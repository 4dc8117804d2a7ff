import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2 } from 'node:http2';
import { setImmediate as turn } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';
import type { Random } from '@bowline/machinery';
import type { HostileRequest } from './hostile-request.ts';
import { chance } from './hostile-texts.ts';
import { isSendableOverHttp2, soundBytes, type WireBytes, wireBytes } from './hostile-wire.ts';
import { parseRawHead, parseRawResponse } from './raw-http.ts';

/** WireResponse is the response. */
export interface WireResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined if the response is a watch, which continues. */
  readonly text?: string | undefined;
  /** The watch, if it can be read. */
  readonly stream?: AsyncIterable<Uint8Array> | undefined;
}

/** WireOptions configures the server and the credentials. */
export interface WireOptions {
  readonly url: string;
  readonly authority: string;
  readonly token: string;
}

/** How long a malformed request may wait for more before it is ended. */
const TIMEOUT_MS = 50;

/** Wire sends requests over HTTPS: with HTTP/2 like a client, and with HTTP/1.1 byte by byte. */
export class Wire implements Disposable {
  readonly #options: WireOptions;
  #session: ClientHttp2Session | undefined;

  constructor(options: WireOptions) {
    this.#options = options;
  }

  /** send resolves to undefined if the server disconnected a malformed request. */
  send(random: Random, request: HostileRequest, signal: AbortSignal): Promise<WireResponse | undefined> {
    if (isSendableOverHttp2(request) && chance(random, 0.5)) return this.http2(request, signal);
    return this.http1(wireBytes(random, request, this.#options.token), request, signal);
  }

  /** sound sends a valid request over HTTP/1.1. */
  async sound(request: HostileRequest, signal: AbortSignal): Promise<WireResponse> {
    const response = await this.http1(soundBytes(request, this.#options.token), request, signal);
    if (!response) throw new Error('the connection ended without a response');
    return response;
  }

  /** http2 sends a request as a stream of a shared session. */
  async http2({ method, path, headers, body }: HostileRequest, signal: AbortSignal): Promise<WireResponse> {
    const stream = this.#open().request(
      { authorization: `Bearer ${this.#options.token}`, ...headers, ':method': method, ':path': path },
      { endStream: body === undefined, signal },
    );
    const headersReceived = new Promise<Readonly<Record<string, string>>>((resolve, reject) => {
      stream.once('response', (got) => resolve(got as Readonly<Record<string, string>>));
      stream.once('error', reject);
      stream.once('close', () => reject(new Error(`the stream ended with ${stream.rstCode}, without a response`)));
    });
    // Errors after a response are irrelevant: servers need not read a body to its end.
    stream.on('error', () => {});
    if (body !== undefined) stream.end(body);
    const got = await headersReceived;
    const head = { status: Number(got[':status']), headers: got };
    return isWatchResponse(head, path) ? { ...head, stream } : { ...head, text: await textOf(stream) };
  }

  /** http1 sends bytes on a separate connection, which the server closes, unless a watch starts. */
  async http1(
    bytes: WireBytes,
    { method, path }: HostileRequest,
    signal: AbortSignal,
  ): Promise<WireResponse | undefined> {
    const socket = await this.#connect(signal);
    let got = Buffer.alloc(0);
    const watch = new Promise<WireResponse>((resolve) => {
      socket.on('data', (chunk: Buffer) => {
        got = Buffer.concat([got, chunk]);
        const head = parseRawHead(got);
        if (head && isWatchResponse(head, path)) resolve({ status: head.status, headers: head.headers });
      });
    });
    const end = new Promise<void>((resolve) => {
      // A server that rejects a request need not read it to its end.
      socket.on('error', () => {}).on('close', () => resolve());
    });
    for (const piece of bytes.pieces) {
      socket.write(piece);
      await turn();
    }
    const patience = bytes.isSound ? undefined : setTimeout(() => socket.end(), TIMEOUT_MS);
    const begun = await Promise.race([watch, end]);
    clearTimeout(patience);
    if (begun) {
      // The watch is not read: the server must handle that.
      socket.pause();
      return begun;
    }
    signal.throwIfAborted();
    const response = parseRawResponse(got, method === 'HEAD');
    if (response === undefined && bytes.isSound)
      throw new Error(`the connection ended after ${JSON.stringify(got.toString('latin1').slice(0, 300))}`);
    return response;
  }

  [Symbol.dispose](): void {
    this.#session?.destroy();
  }

  /** Servers may close a session because of what was sent on it. */
  #open(): ClientHttp2Session {
    if (this.#session && !this.#session.closed && !this.#session.destroyed) return this.#session;
    const session = connectHttp2(this.#options.url, { ca: this.#options.authority });
    session.on('error', () => {});
    this.#session = session;
    return session;
  }

  #connect(signal: AbortSignal): Promise<TLSSocket> {
    const { hostname, port } = new URL(this.#options.url);
    return new Promise((resolve, reject) => {
      const ca = this.#options.authority;
      const socket = connect({ host: hostname, port: Number(port), ca, ALPNProtocols: ['http/1.1'] });
      socket.once('secureConnect', () => resolve(socket)).once('error', reject);
      signal.addEventListener('abort', () => socket.destroy(), { once: true });
    });
  }
}

/** isWatchResponse returns whether a response is a watch, which does not end. */
export function isWatchResponse({ status, headers }: Pick<WireResponse, 'status' | 'headers'>, path: string): boolean {
  return status === 200 && headers['cache-control'] === 'no-cache, private' && /[?&]watch=|\/watch\//.test(path);
}

async function textOf(stream: ClientHttp2Stream): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
