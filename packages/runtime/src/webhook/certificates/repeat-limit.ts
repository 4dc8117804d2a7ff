import type { Clock } from '@bowline/machinery';
import { BowlineError } from '../../errors/bowline-error.ts';

/** A few times in a row is a chart that is upgraded or a person at work; more is somebody who wants it otherwise. */
const MOST = 5;
const WITHIN_MS = 600_000;

/**
 * RepeatLimit bounds how often the same thing is written again. Two programs that each put back what the other changed
 * would otherwise do so as fast as the API server lets them.
 */
export class RepeatLimit {
  readonly #clock: Clock;
  #what: string | undefined;
  #times: number[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** take notes one more write of `content` to `object`; throws BOWLINE_WEBHOOK_CONTESTED when it was written often enough. */
  take(object: string, content: string): void {
    const now = this.#clock.monotonic();
    if (content !== this.#what) this.#times = [];
    this.#what = content;
    this.#times = this.#times.filter((time) => now - time < WITHIN_MS);
    if (this.#times.length >= MOST) {
      throw new BowlineError(
        'BOWLINE_WEBHOOK_CONTESTED',
        `somebody else keeps changing ${object}: it was written ${MOST} times within ${WITHIN_MS / 60_000} minutes; let only one of them keep it`,
        { retryable: true },
      );
    }
    this.#times.push(now);
  }
}
