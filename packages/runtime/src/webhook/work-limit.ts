import type { RequestScope } from '../transport/request-scope.ts';
import { Slots } from '../transport/slots.ts';

/**
 * WorkLimit limits the amount of concurrent work. Work that outlives its request passes its slot to other work, so that
 * a few hanging handlers do not block the rest, but only as many times as there are slots: then its slot stays taken.
 */
export class WorkLimit {
  readonly #limit: number;
  readonly #slots: Slots;
  #overdue = 0;

  constructor(limit: number) {
    this.#limit = limit;
    this.#slots = new Slots(limit);
  }

  /** run runs the work once a slot is free; rejects with the scope's reason as soon as that is cancelled. */
  async run<T>(scope: RequestScope, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    scope.throwIfCancelled();
    if (!this.#slots.tryTake()) {
      await this.#slots.take(scope);
      // The slot may have become free at the same time, and for the same reason, as this request ended.
      if (scope.cancelled) this.#slots.release();
      scope.throwIfCancelled();
    }
    const abort = new AbortController();
    let ended = false;
    let overdue = false;
    const running = work(abort.signal).finally(() => {
      ended = true;
      if (overdue) this.#overdue--;
      else this.#slots.release();
    });
    return await new Promise<T>((resolve, reject) => {
      const forget = scope.onCancel((reason) => {
        abort.abort(reason);
        if (!ended && this.#overdue < this.#limit) {
          overdue = true;
          this.#overdue++;
          this.#slots.release();
        }
        reject(reason);
      });
      void running.then(resolve, reject).finally(forget);
    });
  }
}
