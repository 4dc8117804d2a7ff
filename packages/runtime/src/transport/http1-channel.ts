import { Agent, type ClientRequest, request as httpRequest } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '@bowline/machinery';
import { type Channel, type Incoming, type Outgoing, Unprocessed } from './channel.ts';
import { ChunkReader } from './chunk-reader.ts';
import type { RequestScope } from './request-scope.ts';
import type { OpenSocket } from './socket.ts';
import { type Endpoint, errorCodeOf, lostError, TransportError } from './transport-error.ts';

/** Http1ChannelOptions configures one HTTP/1.1 connection. */
export interface Http1ChannelOptions {
  readonly endpoint: Endpoint;
  readonly authority: string;
  readonly wire: Clock;
  /** Called once when the connection accepts no more requests. */
  readonly onUnusable: (channel: Channel) => void;
}

/**
 * Http1Channel is an HTTP/1.1 keep-alive connection that carries one request at a time. It has no PING: received bytes
 * are its only sign of activity.
 */
export class Http1Channel implements Channel {
  readonly capacity = 1;
  // A handshake costs about 5 ms; eight spare connections cover a controller's usual burst.
  readonly keepIdle = 8;
  readonly certificatePem: string | undefined;
  readonly closed: Promise<void>;
  readonly #options: Http1ChannelOptions;
  readonly #socket: Socket;
  readonly #agent: SingleSocketAgent;
  #usable = true;
  #busy = false;
  #aliveAt: number;
  #failure: Error | undefined;

  constructor(opened: OpenSocket, options: Http1ChannelOptions) {
    this.#options = options;
    this.#socket = opened.socket;
    this.certificatePem = opened.certificatePem;
    this.#agent = new SingleSocketAgent(opened.socket);
    this.#aliveAt = options.wire.monotonic();
    opened.socket.on('error', (error) => {
      this.#failure ??= error;
    });
    this.closed = new Promise((resolve) => {
      opened.socket.on('close', () => {
        this.#unusable();
        resolve();
      });
    });
  }

  get usable(): boolean {
    return this.#usable && !this.#socket.destroyed;
  }

  readonly aliveAt = (): number => this.#aliveAt;

  #alive(): void {
    this.#aliveAt = this.#options.wire.monotonic();
  }

  send(outgoing: Outgoing, scope: RequestScope): Promise<Incoming> {
    outgoing.beforeSend?.();
    if (!this.usable) return Promise.reject(new Unprocessed('the connection was closed'));
    this.#busy = true;
    const headers: Record<string, string | string[] | number> = { host: this.#options.authority, ...outgoing.headers };
    if (outgoing.body !== undefined) headers['content-length'] = Buffer.byteLength(outgoing.body);
    const request = httpRequest({ agent: this.#agent, method: outgoing.method, path: outgoing.path, headers });
    request.end(outgoing.body);
    return this.#response(request, scope);
  }

  #response(request: ClientRequest, scope: RequestScope): Promise<Incoming> {
    const unsubscribe = scope.onCancel(() => request.destroy());
    const ended = new Set<() => void>();
    let over = false;
    request.once('close', () => {
      over = true;
      unsubscribe();
      this.#busy = false;
      for (const callback of ended) callback();
      ended.clear();
      if (!this.#usable) this.#socket.destroy();
    });
    return new Promise((resolve, reject) => {
      request.on('error', (error) => reject(scope.cancelled ? scope.reason : this.#failed(error)));
      request.once('close', () => reject(scope.cancelled ? scope.reason : this.#failed(undefined)));
      request.once('response', (response) => {
        this.#alive();
        const plain: Record<string, string> = {};
        for (const [name, value] of Object.entries(response.headers)) {
          if (value !== undefined) plain[name] = Array.isArray(value) ? value.join(', ') : value;
        }
        resolve({
          status: response.statusCode ?? 0,
          headers: plain,
          read: (onDone) =>
            new ChunkReader(response, {
              onChunk: () => this.#alive(),
              failure: (error) => {
                if (scope.cancelled) return scope.reason;
                return response.complete && response.readableEnded ? undefined : this.#failed(error);
              },
              onDone: (complete) => {
                onDone();
                if (!complete) request.destroy();
              },
            }),
          discard: () => request.destroy(),
          onEnd: (callback) => {
            if (over) callback();
            else ended.add(callback);
          },
          aliveAt: this.aliveAt,
        });
      });
    });
  }

  #failed(error: unknown): Error {
    if (error instanceof Unprocessed) return error;
    const cause = this.#failure ?? error;
    if (cause instanceof TransportError) return cause;
    const code = errorCodeOf(cause);
    return lostError(
      this.#options.endpoint,
      code === '' ? 'the server closed it before the response was complete' : code,
      cause,
    );
  }

  retire(): void {
    this.#unusable();
    if (!this.#busy) this.#socket.destroy();
  }

  markSuspect(): void {
    this.destroy(lostError(this.#options.endpoint, 'it was inactive while a request timed out'));
  }

  destroy(reason: Error): void {
    this.#failure ??= reason;
    this.#unusable();
    this.#socket.destroy();
  }

  #unusable(): void {
    if (!this.#usable) return;
    this.#usable = false;
    this.#agent.destroy();
    this.#options.onUnusable(this);
  }
}

/** SingleSocketAgent makes Node's HTTP/1.1 client reuse one connected socket and never opens another. */
class SingleSocketAgent extends Agent {
  #socket: Socket | undefined;

  constructor(socket: Socket) {
    super({ keepAlive: true, maxSockets: 1 });
    this.#socket = socket;
  }

  override createConnection(): Duplex {
    const socket = this.#socket;
    this.#socket = undefined;
    if (!socket || socket.destroyed) throw new Unprocessed('the connection was closed');
    return socket;
  }
}
