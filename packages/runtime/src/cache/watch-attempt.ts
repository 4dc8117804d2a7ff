import type { Clock, Timer } from '@bowline/machinery';
import { BowlineError } from '../errors/bowline-error.ts';

/**
 * With bookmarks enabled the server sends data about once a minute, and it keeps at least 75 s of history, so a dead
 * stream is detected while resuming is still cheap.
 */
const IDLE_AFTER_MS = 70_000;
/** Proxies and servers that ignore `sendInitialEvents` never send the bookmark that ends the initial state. */
const WARN_WITHOUT_END_MS = 10_000;
const GIVE_UP_WITHOUT_END_MS = 30_000;

/** WatchAttemptOptions configures one attempt. */
export interface WatchAttemptOptions {
  readonly wire: Clock;
  /** Cancels the attempt. */
  readonly signal: AbortSignal;
  /** Called once, when the end of the initial state is overdue. */
  readonly onEndOverdue: () => void;
}

/** WatchAttempt tracks one watch request: its abort signal and the timers that end it when it is inactive. */
export class WatchAttempt implements Disposable {
  readonly #wire: Clock;
  readonly #outer: AbortSignal;
  readonly #controller = new AbortController();
  readonly #onEndOverdue: () => void;
  readonly #onAbort = (): void => this.#controller.abort(this.#outer.reason);
  #aliveAt: () => number;
  #idleTimer: Timer;
  #endTimer: Timer | undefined;
  #lastInitialEvent = 0;
  #warned = false;
  #ending: BowlineError | undefined;

  constructor(options: WatchAttemptOptions) {
    this.#wire = options.wire;
    this.#outer = options.signal;
    this.#onEndOverdue = options.onEndOverdue;
    const startedAt = this.#wire.monotonic();
    this.#aliveAt = () => startedAt;
    this.#idleTimer = this.#wire.setTimer(IDLE_AFTER_MS, () => this.#checkIdle());
    if (this.#outer.aborted) this.#onAbort();
    else this.#outer.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** signal aborts the request. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** ending is the error with which the attempt ended itself; undefined if it did not. */
  get ending(): BowlineError | undefined {
    return this.#ending;
  }

  /**
   * opened passes the stream's activity time: the last bytes, or the last acknowledged PING for kinds that send no
   * bookmarks.
   */
  opened(aliveAt: () => number): void {
    this.#aliveAt = aliveAt;
  }

  /** expectEnd starts to wait for the end of the initial state. */
  expectEnd(): void {
    this.#lastInitialEvent = this.#wire.monotonic();
    this.#endTimer = this.#wire.setTimer(WARN_WITHOUT_END_MS, () => this.#checkEnd());
  }

  /** initialEvent records that the initial state is still arriving. */
  initialEvent(): void {
    this.#lastInitialEvent = this.#wire.monotonic();
  }

  /** endSeen stops waiting for the end of the initial state. */
  endSeen(): void {
    this.#endTimer?.cancel();
    this.#endTimer = undefined;
  }

  #checkIdle(): void {
    const remainingMs = this.#aliveAt() + IDLE_AFTER_MS - this.#wire.monotonic();
    if (remainingMs > 0) {
      this.#idleTimer = this.#wire.setTimer(remainingMs, () => this.#checkIdle());
      return;
    }
    this.#end('BOWLINE_WATCH_SILENT', 'the watch was inactive for 70 s: no event, no bookmark, no acknowledged PING');
  }

  #checkEnd(): void {
    const inactiveMs = this.#wire.monotonic() - this.#lastInitialEvent;
    if (inactiveMs >= GIVE_UP_WITHOUT_END_MS) {
      this.#end('BOWLINE_WATCH_ENDLESS', 'the server did not end the initial state of the watch within 30 s');
      return;
    }
    if (inactiveMs >= WARN_WITHOUT_END_MS && !this.#warned) {
      this.#warned = true;
      this.#onEndOverdue();
    }
    const next = inactiveMs >= WARN_WITHOUT_END_MS ? GIVE_UP_WITHOUT_END_MS : WARN_WITHOUT_END_MS;
    this.#endTimer = this.#wire.setTimer(next - inactiveMs, () => this.#checkEnd());
  }

  #end(code: 'BOWLINE_WATCH_SILENT' | 'BOWLINE_WATCH_ENDLESS', message: string): void {
    this.#ending = new BowlineError(code, message, { retryable: true });
    this.#controller.abort(this.#ending);
  }

  [Symbol.dispose](): void {
    this.#idleTimer.cancel();
    this.#endTimer?.cancel();
    this.#outer.removeEventListener('abort', this.#onAbort);
    // Also cancels a stream that was not read to its end; one that has ended is not affected.
    this.#controller.abort(new BowlineError('BOWLINE_WATCH_LEFT', 'the watch is no longer followed'));
  }
}
