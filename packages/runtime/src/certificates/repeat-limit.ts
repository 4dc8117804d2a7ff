import type { Clock } from '@bowline/machinery';
import { BowlineError } from '../errors/bowline-error.ts';
import type { ErrorCode } from './certificate-profile.ts';

/** A few rewrites in a row are caused by a chart upgrade or a user; more mean that another writer disagrees. */
const MAX_REPEATS = 5;
const WITHIN_MS = 600_000;

/**
 * RepeatLimit limits how often the same content is written again. Otherwise two programs that revert each other's
 * changes would do so as fast as the API server allows.
 */
export class RepeatLimit {
  readonly #clock: Clock;
  readonly #code: ErrorCode;
  #what: string | undefined;
  #times: number[] = [];

  /** `code` is that of the error. */
  constructor(clock: Clock, code: ErrorCode) {
    this.#clock = clock;
    this.#code = code;
  }

  /**
   * take records one more write of `content` to `object`; throws when the limit is reached.
   */
  take(object: string, content: string): void {
    const now = this.#clock.monotonic();
    if (content !== this.#what) this.#times = [];
    this.#what = content;
    this.#times = this.#times.filter((time) => now - time < WITHIN_MS);
    if (this.#times.length >= MAX_REPEATS) {
      throw new BowlineError(
        this.#code,
        `another client keeps changing ${object}: it was written ${MAX_REPEATS} times within ${WITHIN_MS / 60_000} minutes; let only one of them manage it`,
        { retryable: true },
      );
    }
    this.#times.push(now);
  }
}
