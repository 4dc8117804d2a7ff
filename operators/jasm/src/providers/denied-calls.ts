import { BoundedMap, type Clock } from '@bowline/machinery';

/** The maximum number of remembered calls; the oldest is dropped first. */
const MAX_REMEMBERED = 1_000;

/** DeniedCalls remembers denied calls for a while, so that they are not repeated in vain. */
export class DeniedCalls {
  readonly #calls: BoundedMap<string, true>;

  /**
   * `forMs` is how long: permissions are granted rarely, and a user who has just granted one wants to see the effect.
   */
  constructor(clock: Clock, forMs: number) {
    this.#calls = new BoundedMap({ maxEntries: MAX_REMEMBERED, expiry: { clock, afterMs: forMs } });
  }

  has(call: string): boolean {
    return this.#calls.has(call);
  }

  add(call: string): void {
    this.#calls.set(call, true);
  }
}
