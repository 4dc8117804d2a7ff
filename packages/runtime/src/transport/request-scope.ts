import { setMaxListeners } from 'node:events';
import type { Clock, Timer } from '@bowline/machinery';

/** RequestScopeOptions says what may end a request early. */
export interface RequestScopeOptions {
  readonly signal: AbortSignal | undefined;
  readonly wire: Clock;
  readonly timeoutMs: number;
  /** Makes the error of a request that took too long. */
  readonly onTimeout: () => Error;
}

/**
 * RequestScope is one request's lifetime: it is cancelled by the caller's signal, by the timeout or by the transport's
 * end, whichever comes first, and holds exactly one listener and one timer meanwhile. (`AbortSignal.any` is not used: on
 * Node 20 each call leaves an entry on a long-lived source signal.)
 */
export class RequestScope implements Disposable {
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort: () => void;
  readonly #handlers = new Set<(reason: unknown) => void>();
  #timer: Timer | undefined;
  #cancelled = false;
  #reason: unknown;

  constructor(options: RequestScopeOptions) {
    this.#signal = options.signal;
    this.#onAbort = () => this.cancel(options.signal?.reason);
    if (options.signal?.aborted) {
      this.cancel(options.signal.reason);
      return;
    }
    if (options.signal) {
      // One signal may serve hundreds of watches: Node's warning about more than ten listeners would be false.
      setMaxListeners(0, options.signal);
      options.signal.addEventListener('abort', this.#onAbort);
    }
    this.#timer = options.wire.setTimer(options.timeoutMs, () => this.cancel(options.onTimeout()));
  }

  get cancelled(): boolean {
    return this.#cancelled;
  }

  /** reason is why, once cancelled. */
  get reason(): unknown {
    return this.#reason;
  }

  /** throwIfCancelled throws the reason. */
  throwIfCancelled(): void {
    if (this.#cancelled) throw this.#reason;
  }

  /** cancel ends the request; only the first reason counts. */
  cancel(reason: unknown): void {
    if (this.#cancelled) return;
    this.#cancelled = true;
    this.#reason = reason;
    const handlers = [...this.#handlers];
    this[Symbol.dispose]();
    for (const handler of handlers) handler(reason);
  }

  /** onCancel runs `handler` when the request is cancelled; the answer takes it back. */
  onCancel(handler: (reason: unknown) => void): () => void {
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }

  /** race waits for `work` no longer than the request lives. What `work` does after that is the caller's to bound. */
  race<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#cancelled) {
        work.catch(() => {});
        reject(this.#reason);
        return;
      }
      const release = this.onCancel(reject);
      work.then(
        (value) => {
          release();
          resolve(value);
        },
        (error: unknown) => {
          release();
          reject(error);
        },
      );
    });
  }

  /** stopTimer lets the request live on without a time limit: a watch whose headers have come. */
  stopTimer(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  [Symbol.dispose](): void {
    this.stopTimer();
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#handlers.clear();
  }
}
