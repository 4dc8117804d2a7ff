import type { ChunkReader } from './chunk-reader.ts';
import type { RequestScope } from './request-scope.ts';
import type { TransportRequest } from './transport.ts';

/** Outgoing is a request as a channel sends it: every header decided. */
export interface Outgoing {
  readonly method: TransportRequest['method'];
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string | Uint8Array | undefined;
  readonly beforeSend: (() => void) | undefined;
}

/** Incoming is an answer whose body has not been read yet. */
export interface Incoming {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * read reads the body with back-pressure; to be called once. Ending before the end of the body ends the request. `onOver`
   * is called as soon as nothing more is read.
   */
  read(onOver: () => void): ChunkReader;
  /** discard ends the request without reading the body. */
  discard(): void;
  /** onEnd runs `callback` once when the request has ended, however it did. */
  onEnd(callback: () => void): void;
  aliveAt(): number;
}

/** Unprocessed is thrown by `Channel.send` for a request that the server certainly did not act on: it may be sent again. */
export class Unprocessed extends Error {
  /** For metrics: what happened. */
  readonly reason: string;

  constructor(reason: string, cause?: unknown) {
    super(`the request was not processed: ${reason}`, { cause });
    this.name = 'Unprocessed';
    this.reason = reason;
  }
}

/** Channel is one connection to the server. */
export interface Channel {
  /** How many requests it may carry at once. */
  readonly capacity: number;
  /** How many idle ones of its protocol are worth keeping. */
  readonly keepIdle: number;
  /** Whether new requests may use it. */
  readonly usable: boolean;
  /** The certificate it was opened with, to tell when another is in force. */
  readonly certificatePem: string | undefined;
  readonly aliveAt: () => number;
  /** Resolves when the connection is gone. */
  readonly closed: Promise<void>;
  /** send calls `beforeSend` and hands the request to the network in one synchronous step, then waits for the headers. */
  send(outgoing: Outgoing, scope: RequestScope): Promise<Incoming>;
  /** retire takes no new requests; the connection ends when the present ones have. */
  retire(): void;
  /** suspect is called after a request timed out during which the connection showed no life. */
  suspect(): void;
  /** destroy ends the connection and every request on it. */
  destroy(reason: Error): void;
}
