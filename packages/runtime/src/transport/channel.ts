import type { ChunkReader } from './chunk-reader.ts';
import type { RequestScope } from './request-scope.ts';
import type { TransportRequest } from './transport.ts';

/** Outgoing is a request with its final headers, ready to be sent on a channel. */
export interface Outgoing {
  readonly method: TransportRequest['method'];
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string | Uint8Array | undefined;
  readonly beforeSend: (() => void) | undefined;
}

/** Incoming is a response whose body has not been read yet. */
export interface Incoming {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * read reads the body with back-pressure and must be called only once. Stopping before the end of the body cancels
   * the request. `onDone` is called as soon as reading stops.
   */
  read(onDone: () => void): ChunkReader;
  /** discard ends the request without reading the body. */
  discard(): void;
  /** onEnd calls `callback` once when the request has ended, whether it succeeded or failed. */
  onEnd(callback: () => void): void;
  aliveAt(): number;
}

/**
 * Unprocessed is thrown by `Channel.send` for a request that the server certainly did not process and that is therefore
 * safe to retry.
 */
export class Unprocessed extends Error {
  /** A short reason, used as a metric label. */
  readonly reason: string;

  constructor(reason: string, cause?: unknown) {
    super(`the request was not processed: ${reason}`, { cause });
    this.name = 'Unprocessed';
    this.reason = reason;
  }
}

/** Channel is one connection to the server. */
export interface Channel {
  /** The maximum number of concurrent requests. */
  readonly capacity: number;
  /** The number of idle connections of this protocol to keep open. */
  readonly keepIdle: number;
  /** Whether new requests may use it. */
  readonly usable: boolean;
  /** The client certificate the connection was opened with, used to detect that a newer one is available. */
  readonly certificatePem: string | undefined;
  readonly aliveAt: () => number;
  /** Resolves when the connection is gone. */
  readonly closed: Promise<void>;
  /**
   * send calls `beforeSend`, writes the request to the network in the same synchronous step and waits for the response
   * headers.
   */
  send(outgoing: Outgoing, scope: RequestScope): Promise<Incoming>;
  /** retire stops new requests from using the connection and closes it once its active requests have ended. */
  retire(): void;
  /** markSuspect is called after a request timed out while the connection showed no activity. */
  markSuspect(): void;
  /** destroy closes the connection and fails every request on it. */
  destroy(reason: Error): void;
}
