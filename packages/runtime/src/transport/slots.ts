import type { RequestScope } from './request-scope.ts';

/** Slots bounds how many requests run at once; the others wait their turn, first come first served. */
export class Slots {
  readonly #limit: number;
  #taken = 0;
  readonly #waiting = new Set<() => void>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** taken is how many are in use. While one waits it is all of them. */
  get taken(): number {
    return this.#taken;
  }

  /** tryTake takes a slot if one is free. */
  tryTake(): boolean {
    if (this.#taken >= this.#limit) return false;
    this.#taken++;
    return true;
  }

  /** take waits for a slot, no longer than the request lives. */
  take(scope: RequestScope): Promise<void> {
    return new Promise((resolve, reject) => {
      const grant = (): void => {
        this.#waiting.delete(grant);
        forget();
        resolve();
      };
      const forget = scope.onCancel((reason) => {
        this.#waiting.delete(grant);
        reject(reason);
      });
      this.#waiting.add(grant);
    });
  }

  /** give returns a slot; the request that has waited longest has it at once. */
  give(): void {
    const [next] = this.#waiting;
    if (next) next();
    else this.#taken--;
  }
}
