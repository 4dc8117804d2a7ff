import type { RequestScope } from './request-scope.ts';

/** Slots limits the number of concurrent requests; the others wait in FIFO order. */
export class Slots {
  readonly #limit: number;
  #taken = 0;
  readonly #waiting = new Set<() => void>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The number of slots in use; equal to the limit while a request waits. */
  get taken(): number {
    return this.#taken;
  }

  /** tryTake takes a slot if one is free. */
  tryTake(): boolean {
    if (this.#taken >= this.#limit) return false;
    this.#taken++;
    return true;
  }

  /** take waits for a slot, at most until the request is cancelled. */
  take(scope: RequestScope): Promise<void> {
    return new Promise((resolve, reject) => {
      const grant = (): void => {
        this.#waiting.delete(grant);
        unsubscribe();
        resolve();
      };
      const unsubscribe = scope.onCancel((reason) => {
        this.#waiting.delete(grant);
        reject(reason);
      });
      this.#waiting.add(grant);
    });
  }

  /** release returns a slot, which passes to the request that has waited longest. */
  release(): void {
    const [next] = this.#waiting;
    if (next) next();
    else this.#taken--;
  }
}
