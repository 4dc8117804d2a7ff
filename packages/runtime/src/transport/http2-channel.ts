import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2, constants } from 'node:http2';
import type { Socket } from 'node:net';
import type { Clock, Timer } from '@bowline/machinery';
import type { Channel, Incoming, Outgoing } from './channel.ts';
import { Unprocessed } from './channel.ts';
import { ChunkReader } from './chunk-reader.ts';
import type { RequestScope } from './request-scope.ts';
import type { OpenSocket } from './socket.ts';
import { connectError, type Endpoint, errorCodeOf, lostError, TransportError } from './transport-error.ts';

/** Http2ChannelOptions configures one HTTP/2 connection. */
export interface Http2ChannelOptions {
  readonly endpoint: Endpoint;
  readonly authority: string;
  readonly wire: Clock;
  readonly maxStreams: number;
  readonly pingIntervalMs: number;
  readonly pingTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly streamWindowBytes: number;
  /** Aborted when the transport is closed. */
  readonly signal: AbortSignal;
  /** Called once when the connection accepts no more requests. */
  readonly onUnusable: (channel: Channel) => void;
}

/**
 * The receive window of the whole connection. Node returns connection credit as data arrives, whether or not a stream
 * is being read, so this limits the data per round trip rather than memory: a slow reader stalls only its own stream.
 */
const CONNECTION_WINDOW_BYTES = 16 * 2 ** 20;

/**
 * Node's default limit of 10 MB counts queued request bodies: 64 objects of 3 MB in flight must not fail with
 * ENHANCE_YOUR_CALM.
 */
const SESSION_MEMORY_MB = 256;

/** The errors with which Node refuses a stream on a session that is closing or has used up its stream IDs. */
const SESSION_CLOSED = new Set([
  'ERR_HTTP2_GOAWAY_SESSION',
  'ERR_HTTP2_INVALID_SESSION',
  'ERR_HTTP2_OUT_OF_STREAMS',
  'ERR_HTTP2_SESSION_ERROR',
]);

/** Http2Channel is an HTTP/2 connection that checks with PINGs whether its peer is alive. */
export class Http2Channel implements Channel {
  readonly keepIdle = 1;
  readonly certificatePem: string | undefined;
  readonly closed: Promise<void>;
  readonly #options: Http2ChannelOptions;
  readonly #session: ClientHttp2Session;
  readonly #socket: Socket;
  #usable = true;
  #streams = 0;
  #aliveAt: number;
  #timer: Timer | undefined;
  #pinging = false;
  #lastProcessed = Number.POSITIVE_INFINITY;
  #failure: Error | undefined;

  private constructor(session: ClientHttp2Session, opened: OpenSocket, options: Http2ChannelOptions) {
    this.#session = session;
    this.#socket = opened.socket;
    this.#options = options;
    this.certificatePem = opened.certificatePem;
    this.#aliveAt = options.wire.monotonic();
    session.on('error', (error) => {
      this.#failure ??= error;
      this.#unusable();
    });
    session.on('goaway', (_code, lastStreamId) => {
      this.#lastProcessed = Math.min(this.#lastProcessed, lastStreamId);
      this.#unusable();
    });
    this.closed = new Promise((resolve) => {
      session.on('close', () => {
        this.#timer?.cancel();
        this.#unusable();
        resolve();
      });
    });
    this.#schedulePing();
  }

  /** open starts HTTP/2 on a socket and waits for the server's settings, which contain its stream limit. */
  static open(opened: OpenSocket, options: Http2ChannelOptions): Promise<Http2Channel> {
    const session = connectHttp2(options.authority, {
      createConnection: () => opened.socket,
      maxSessionMemory: SESSION_MEMORY_MB,
      settings: { enablePush: false, initialWindowSize: options.streamWindowBytes },
    });
    session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
    const channel = new Http2Channel(session, opened, options);
    return new Promise((resolve, reject) => {
      const { wire, endpoint, connectTimeoutMs, signal } = options;
      const timer = wire.setTimer(connectTimeoutMs, () => {
        channel.destroy(
          new TransportError(
            'BOWLINE_TRANSPORT_CONNECT_TIMEOUT',
            `${endpoint.server} (${endpoint.source}) accepted a connection but sent no HTTP/2 settings within ${connectTimeoutMs} ms: check that the address is an API server`,
          ),
        );
      });
      const settle = (): void => {
        timer.cancel();
        signal.removeEventListener('abort', onAbort);
        session.off('remoteSettings', onSettings);
        session.off('close', onClose);
      };
      const onSettings = (): void => {
        settle();
        resolve(channel);
      };
      const onClose = (): void => {
        settle();
        reject(connectError(channel.#failure, endpoint));
      };
      const onAbort = (): void =>
        channel.destroy(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
      session.on('remoteSettings', onSettings);
      session.on('close', onClose);
      signal.addEventListener('abort', onAbort);
      if (signal.aborted) onAbort();
    });
  }

  get usable(): boolean {
    return this.#usable && !this.#session.closed && !this.#session.destroyed;
  }

  get capacity(): number {
    return Math.min(
      this.#options.maxStreams,
      this.#session.remoteSettings.maxConcurrentStreams ?? this.#options.maxStreams,
    );
  }

  readonly aliveAt = (): number => this.#aliveAt;

  #alive(): void {
    this.#aliveAt = this.#options.wire.monotonic();
  }

  send(outgoing: Outgoing, scope: RequestScope): Promise<Incoming> {
    outgoing.beforeSend?.();
    let stream: ClientHttp2Stream;
    try {
      stream = this.#session.request(
        { ':method': outgoing.method, ':path': outgoing.path, ...outgoing.headers },
        { endStream: outgoing.body === undefined },
      );
    } catch (error) {
      // Node throws before it sends anything; an error that is not about the session is caused by the request.
      const code = errorCodeOf(error);
      if (!SESSION_CLOSED.has(code)) throw error;
      this.retire();
      throw new Unprocessed(code, error);
    }
    this.#streams++;
    if (outgoing.body !== undefined) stream.end(outgoing.body);
    return this.#response(stream, scope);
  }

  #response(stream: ClientHttp2Stream, scope: RequestScope): Promise<Incoming> {
    let failure: Error | undefined;
    const unsubscribe = scope.onCancel(() => end(stream));
    stream.on('error', (error) => {
      failure ??= error;
    });
    const ended: (() => void)[] = [];
    return new Promise((resolve, reject) => {
      let hasResponse = false;
      stream.on('close', () => {
        unsubscribe();
        this.#streams--;
        for (const callback of ended.splice(0)) callback();
        this.#closeWhenDrained();
        if (!hasResponse) reject(scope.cancelled ? scope.reason : this.#noResponseError(stream, failure));
      });
      stream.on('response', (headers) => {
        hasResponse = true;
        this.#alive();
        resolve({
          status: headers[':status'] ?? 0,
          headers: plainHeaders(headers),
          read: (onDone) =>
            new ChunkReader(stream, {
              onChunk: () => this.#alive(),
              failure: (error) => {
                if (scope.cancelled) return scope.reason;
                // A session that is torn down may end its streams without an error: a truncated body must not count as
                // complete.
                const whole = stream.readableEnded && !stream.aborted && (stream.rstCode ?? 0) === 0;
                return whole ? undefined : this.#streamError(stream, failure ?? error);
              },
              onDone: (complete) => {
                onDone();
                if (!complete) end(stream);
              },
            }),
          discard: () => end(stream),
          onEnd: (callback) => {
            if (stream.closed && stream.destroyed) callback();
            else ended.push(callback);
          },
          aliveAt: this.aliveAt,
        });
      });
    });
  }

  /** #noResponseError returns the error for a request that got no response. */
  #noResponseError(stream: ClientHttp2Stream, error: unknown): Error {
    if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) return new Unprocessed('REFUSED_STREAM', error);
    if (stream.id !== undefined && stream.id > this.#lastProcessed) return new Unprocessed('GOAWAY', error);
    return this.#streamError(stream, error);
  }

  /** #streamError converts Node's error for a broken stream to a TransportError. */
  #streamError(stream: ClientHttp2Stream, error: unknown): Error {
    const cause = this.#failure ?? error;
    if (cause instanceof TransportError) return cause;
    const code = errorCodeOf(cause);
    const why =
      code === 'ERR_HTTP2_STREAM_ERROR' || code === 'ERR_HTTP2_SESSION_ERROR'
        ? `the server ended it with HTTP/2 code ${stream.rstCode ?? 0}`
        : code === '' || code === 'ERR_STREAM_PREMATURE_CLOSE'
          ? 'the server closed it before the response was complete'
          : code;
    return lostError(this.#options.endpoint, why, cause);
  }

  retire(): void {
    this.#unusable();
    this.#closeWhenDrained();
  }

  markSuspect(): void {
    this.retire();
    this.#ping();
  }

  destroy(reason: Error): void {
    this.#failure ??= reason;
    this.#timer?.cancel();
    // Pass a reason: without one, the streams of a destroyed session look as if their responses were complete.
    this.#session.destroy(reason, constants.NGHTTP2_CANCEL);
    this.#socket.destroy();
    this.#unusable();
  }

  #unusable(): void {
    if (!this.#usable) return;
    this.#usable = false;
    this.#options.onUnusable(this);
  }

  /** A graceful close would wait for a peer that may be dead and keep the process alive meanwhile. */
  #closeWhenDrained(): void {
    if (this.#usable || this.#streams > 0) return;
    this.#session.destroy();
    this.#socket.destroy();
  }

  #schedulePing(): void {
    this.#timer?.cancel();
    this.#timer = this.#options.wire.setTimer(this.#options.pingIntervalMs, () => this.#ping());
  }

  #ping(): void {
    if (this.#pinging || this.#session.destroyed) return;
    this.#pinging = true;
    this.#timer?.cancel();
    this.#timer = this.#options.wire.setTimer(this.#options.pingTimeoutMs, () => {
      // If this process stalled, the acknowledgement may still be unread in the socket: let I/O run once before the
      // peer is considered dead.
      setImmediate(() => setImmediate(() => this.#pingTimedOut()));
    });
    try {
      this.#session.ping((error) => {
        this.#pinging = false;
        if (error || this.#session.destroyed) return;
        this.#alive();
        this.#schedulePing();
      });
    } catch {
      // The session was destroyed between the check and the call; its `close` event does the rest.
      this.#pinging = false;
    }
  }

  #pingTimedOut(): void {
    if (!this.#pinging || this.#session.destroyed) return;
    this.destroy(
      lostError(this.#options.endpoint, `no acknowledgement of a PING within ${this.#options.pingTimeoutMs} ms`),
    );
  }
}

/** end cancels a stream immediately: `close` alone waits for a reader that may never come. */
function end(stream: ClientHttp2Stream): void {
  if (stream.destroyed) return;
  if (!stream.closed) stream.close(constants.NGHTTP2_CANCEL);
  stream.destroy();
}

function plainHeaders(
  headers: Readonly<Record<string, string | string[] | number | undefined>>,
): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || name.charCodeAt(0) === 58 /* ':' */) continue;
    plain[name] = Array.isArray(value) ? value.join(', ') : String(value);
  }
  return plain;
}
