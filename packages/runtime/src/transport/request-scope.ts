import type { Clock, Timer } from '@bowline/machinery';

/** RequestScopeOptions configures what may end a request early. */
export interface RequestScopeOptions {
  readonly signal: AbortSignal | undefined;
  readonly wire: Clock;
  readonly timeoutMs: number;
  /** Creates the error for a request that timed out. */
  readonly onTimeout: () => Error;
}

/**
 * The active requests of each signal. A signal has one listener for all of them: it may serve thousands of writes or
 * hundreds of watches, and Node scans all listeners of a signal for each one that is added.
 */
const requestsOf = new WeakMap<AbortSignal, Set<RequestScope>>();

/**
 * RequestScope tracks the lifetime of one request: it is cancelled by the caller's signal, by the timeout or when the
 * transport is closed, whichever comes first, and holds exactly one timer meanwhile. (`AbortSignal.any` is not used: on
 * Node 20 each call leaves an entry on a long-lived source signal.)
 */
export class RequestScope implements Disposable {
  readonly #options: RequestScopeOptions;
  readonly #signal: AbortSignal | undefined;
  readonly #handlers = new Set<(reason: unknown) => void>();
  #timer: Timer | undefined;
  #cancelled = false;
  #reason: unknown;

  constructor(options: RequestScopeOptions) {
    this.#options = options;
    this.#signal = options.signal;
    if (options.signal?.aborted) {
      this.cancel(options.signal.reason);
      return;
    }
    if (options.signal) join(options.signal, this);
    this.#timer = options.wire.setTimer(options.timeoutMs, () => this.cancel(options.onTimeout()));
  }

  get cancelled(): boolean {
    return this.#cancelled;
  }

  /** The cancellation reason; undefined until cancelled. */
  get reason(): unknown {
    return this.#reason;
  }

  /** throwIfCancelled throws the reason if the request was cancelled. */
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

  /** onCancel calls `handler` when the request is cancelled. The returned function removes the handler. */
  onCancel(handler: (reason: unknown) => void): () => void {
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }

  /**
   * race waits for `work`, at most until the request is cancelled. The caller must bound what `work` does after that.
   */
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

  /** restartTimer restarts the timeout with a new duration and, optionally, another error. */
  restartTimer(timeoutMs: number, onTimeout = this.#options.onTimeout): void {
    if (this.#cancelled) return;
    this.stopTimer();
    this.#timer = this.#options.wire.setTimer(Math.max(0, timeoutMs), () => this.cancel(onTimeout()));
  }

  /** stopTimer removes the timeout, for a watch whose headers have arrived. */
  stopTimer(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  [Symbol.dispose](): void {
    this.stopTimer();
    if (this.#signal) leave(this.#signal, this);
    this.#handlers.clear();
  }
}

function join(signal: AbortSignal, scope: RequestScope): void {
  const requests = requestsOf.get(signal);
  if (requests) {
    requests.add(scope);
    return;
  }
  requestsOf.set(signal, new Set([scope]));
  signal.addEventListener('abort', cancelAll);
}

/**
 * leave removes the listener with the last request, because a listener could keep otherwise unreferenced objects alive.
 */
function leave(signal: AbortSignal, scope: RequestScope): void {
  const requests = requestsOf.get(signal);
  if (!requests?.delete(scope) || requests.size > 0) return;
  requestsOf.delete(signal);
  signal.removeEventListener('abort', cancelAll);
}

function cancelAll(this: AbortSignal): void {
  for (const scope of [...(requestsOf.get(this) ?? [])]) scope.cancel(this.reason);
}
