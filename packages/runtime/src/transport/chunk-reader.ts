import type { Readable } from 'node:stream';

/** ChunkReaderOptions holds the callbacks of a connection for a body that is being read. */
export interface ChunkReaderOptions {
  /** Called for each chunk. */
  readonly onChunk: () => void;
  /**
   * Returns the error to throw after the stream has ended, given the stream's own error if any, or undefined if the
   * body is complete.
   */
  readonly failure: (error: unknown) => unknown;
  /** Called once when reading stops; `complete` is true if the stream reached its end. */
  readonly onDone: (complete: boolean) => void;
}

interface Waiter {
  resolve(result: IteratorResult<Uint8Array, undefined>): void;
  reject(error: unknown): void;
}

const DONE: IteratorResult<Uint8Array, undefined> = { done: true, value: undefined };

/**
 * ChunkReader reads a body chunk by chunk with back-pressure: unread data stays in the stream, whose buffer is bounded.
 * It is equivalent to iterating over the stream but creates one promise per chunk instead of four, which matters
 * because a large watch arrives in thousands of 4 kB chunks. `drain` reads the whole body with a single promise.
 */
export class ChunkReader implements AsyncIterableIterator<Uint8Array> {
  readonly #stream: Readable;
  readonly #options: ChunkReaderOptions;
  #waiter: Waiter | undefined;
  /** Set by `drain`. It receives every chunk, so that the waiter resolves only at the end of the body. */
  #consume: ((chunk: Uint8Array) => void) | undefined;
  #error: unknown;
  #started = false;
  #finished = false;

  constructor(stream: Readable, options: ChunkReaderOptions) {
    this.#stream = stream;
    this.#options = options;
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (!this.#started) this.#start();
    if (this.#waiter) return Promise.reject(new Error('next() was called again before the previous call settled'));
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
      this.#proceed();
    });
  }

  /** drain calls `consume` for every chunk and resolves after the last one. If `consume` throws, reading stops. */
  async drain(consume: (chunk: Uint8Array) => void): Promise<void> {
    this.#consume = consume;
    await this.next();
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#end(false);
    return Promise.resolve(DONE);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #start(): void {
    this.#started = true;
    this.#stream.on('readable', this.#proceed);
    this.#stream.on('end', this.#proceed);
    this.#stream.on('close', this.#proceed);
    this.#stream.on('error', this.#fail);
  }

  readonly #fail = (error: unknown): void => {
    this.#error ??= error;
    this.#proceed();
  };

  /** #proceed passes the available data to the waiting reader. */
  readonly #proceed = (): void => {
    const waiter = this.#waiter;
    if (!waiter) return;
    for (let chunk = this.#read(); chunk !== null; chunk = this.#read()) {
      this.#options.onChunk();
      if (this.#handOver(chunk, waiter)) continue;
      this.#waiter = undefined;
      return;
    }
    const complete = this.#stream.readableEnded;
    if (!complete && !this.#stream.destroyed && !this.#finished) return;
    this.#waiter = undefined;
    if (this.#finished) {
      waiter.resolve(DONE);
      return;
    }
    const failure = this.#options.failure(this.#error);
    this.#end(complete);
    if (failure === undefined) waiter.resolve(DONE);
    else waiter.reject(failure);
  };

  #read(): Uint8Array | null {
    return this.#finished || this.#stream.destroyed ? null : (this.#stream.read() as Uint8Array | null);
  }

  /** #handOver returns whether the reader wants more chunks. */
  #handOver(chunk: Uint8Array, waiter: Waiter): boolean {
    if (!this.#consume) {
      waiter.resolve({ done: false, value: chunk });
      return false;
    }
    try {
      this.#consume(chunk);
      return true;
    } catch (error) {
      this.#end(false);
      waiter.reject(error);
      return false;
    }
  }

  #end(complete: boolean): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#stream.off('readable', this.#proceed);
    this.#stream.off('end', this.#proceed);
    this.#stream.off('close', this.#proceed);
    this.#stream.off('error', this.#fail);
    this.#options.onDone(complete);
  }
}
