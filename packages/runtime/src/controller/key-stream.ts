import { EventEmitter, on } from 'node:events';

/** KeyStreamOptions configures a stream of keys. */
export interface KeyStreamOptions {
  /** How many different keys may wait; further ones are dropped. Defaults to 10,000. */
  readonly maxWaiting?: number | undefined;
}

/**
 * KeyStream passes keys from any code of an operator, such as a receiver or another controller, to the `triggeredBy` of
 * a controller. A key that is already waiting is not added again: one more reconcile is enough. Keys that are added
 * while nobody follows wait. Each key is passed to one follower, so each controller needs a stream of its own.
 *
 * @example
 * const pushes = new KeyStream();
 * controller(Checkout).triggeredBy('pushes', async function* (signal, _, cache) {
 *   for await (const repository of pushes.follow(signal)) yield* cache.list(Checkout, { by: { repository } }).map(keyOf);
 * });
 */
export class KeyStream {
  readonly #waiting = new Set<string>();
  readonly #emitter = new EventEmitter();
  readonly #maxWaiting: number;

  constructor({ maxWaiting = 10_000 }: KeyStreamOptions = {}) {
    this.#maxWaiting = maxWaiting;
  }

  /** add passes a key on. It reports whether there was room for it. */
  add(key: string): boolean {
    const hasRoom = this.#waiting.size < this.#maxWaiting || this.#waiting.has(key);
    if (hasRoom) this.#waiting.add(key);
    this.#emitter.emit('added');
    return hasRoom;
  }

  /** follow yields the keys that are added, until the signal is aborted. */
  async *follow(signal: AbortSignal): AsyncGenerator<string> {
    const added = on(this.#emitter, 'added', { signal });
    for (;;) {
      for (const key of this.#waiting) {
        this.#waiting.delete(key);
        yield key;
      }
      await added.next();
    }
  }
}
