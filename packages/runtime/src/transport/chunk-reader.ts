import type { Readable } from 'node:stream';

/** ChunkReaderOptions is what a connection wants to know of a body that is being read. */
export interface ChunkReaderOptions {
  /** Called for each chunk. */
  readonly onChunk: () => void;
  /** Answers what the reader throws when the stream has ended, with the stream's own error if it had one; nothing when the body is complete. */
  readonly failure: (error: unknown) => unknown;
  /** Called once when nothing more is read; `complete` says whether the stream ended by itself. */
  readonly onOver: (complete: boolean) => void;
}

interface Waiter {
  resolve(result: IteratorResult<Uint8Array, undefined>): void;
  reject(error: unknown): void;
}

const DONE: IteratorResult<Uint8Array, undefined> = { done: true, value: undefined };

/**
 * ChunkReader reads a body chunk by chunk, with back-pressure: what is not asked for stays in the stream, whose buffer is
 * bounded. It does what iterating over the stream would, with one promise per chunk instead of four: a large watch comes
 * in thousands of chunks of 4 kB. `drain` reads all of it with one promise.
 */
export class ChunkReader implements AsyncIterableIterator<Uint8Array> {
  readonly #stream: Readable;
  readonly #options: ChunkReaderOptions;
  #waiter: Waiter | undefined;
  /** Set by `drain`: takes every chunk, so that the waiter is answered at the end only. */
  #take: ((chunk: Uint8Array) => void) | undefined;
  #error: unknown;
  #started = false;
  #over = false;

  constructor(stream: Readable, options: ChunkReaderOptions) {
    this.#stream = stream;
    this.#options = options;
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (!this.#started) this.#start();
    if (this.#waiter) return Promise.reject(new Error('next() was called again before the last one was answered'));
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
      this.#proceed();
    });
  }

  /** drain gives `take` every chunk as it comes, and resolves after the last one. When `take` throws, reading ends. */
  async drain(take: (chunk: Uint8Array) => void): Promise<void> {
    this.#take = take;
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

  /** #proceed gives the waiting reader what there is. */
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
    if (!complete && !this.#stream.destroyed && !this.#over) return;
    this.#waiter = undefined;
    if (this.#over) {
      waiter.resolve(DONE);
      return;
    }
    const failure = this.#options.failure(this.#error);
    this.#end(complete);
    if (failure === undefined) waiter.resolve(DONE);
    else waiter.reject(failure);
  };

  #read(): Uint8Array | null {
    return this.#over || this.#stream.destroyed ? null : (this.#stream.read() as Uint8Array | null);
  }

  /** Whether more is wanted. */
  #handOver(chunk: Uint8Array, waiter: Waiter): boolean {
    if (!this.#take) {
      waiter.resolve({ done: false, value: chunk });
      return false;
    }
    try {
      this.#take(chunk);
      return true;
    } catch (error) {
      this.#end(false);
      waiter.reject(error);
      return false;
    }
  }

  #end(complete: boolean): void {
    if (this.#over) return;
    this.#over = true;
    this.#stream.off('readable', this.#proceed);
    this.#stream.off('end', this.#proceed);
    this.#stream.off('close', this.#proceed);
    this.#stream.off('error', this.#fail);
    this.#options.onOver(complete);
  }
}
