import type { RequestScope } from './request-scope.ts';
import { Slots } from './slots.ts';

/**
 * FlowSlots limits the number of concurrent requests, in total and per flow. A flow gets at most half of the slots, so
 * that requests that hang in one flow, for example because of an admission webhook of one namespace, leave the other
 * half available.
 */
export class FlowSlots {
  readonly limit: number;
  readonly #all: Slots;
  /** Flows with at least one running or waiting request. */
  readonly #flows = new Map<string, Slots>();

  constructor(limit: number) {
    this.limit = limit;
    this.#all = new Slots(limit);
  }

  /** tryTake takes a slot if one is free for the flow. Requests without a flow may use all slots. */
  tryTake(flow: string | undefined): boolean {
    if (flow === undefined) return this.#all.tryTake();
    const own = this.#slotsOf(flow);
    if (!own.tryTake()) return false;
    if (this.#all.tryTake()) return true;
    this.#releaseOwn(flow);
    return false;
  }

  /**
   * take waits for a slot, at most until the request is cancelled: first for one of the flow's own slots, then for one
   * of all slots. The second wait, for slots held by other flows, is passed through `waitForOthers`.
   */
  async take(
    flow: string | undefined,
    scope: RequestScope,
    waitForOthers: (wait: Promise<void>) => Promise<void>,
  ): Promise<void> {
    if (flow !== undefined) {
      const own = this.#slotsOf(flow);
      if (!own.tryTake()) await own.take(scope);
    }
    try {
      // The request may have been cancelled at the moment it got the slot.
      scope.throwIfCancelled();
      if (!this.#all.tryTake()) await waitForOthers(this.#all.take(scope));
    } catch (error) {
      this.#releaseOwn(flow);
      throw error;
    }
  }

  /** release returns a slot, which passes to the request that has waited longest. */
  release(flow: string | undefined): void {
    // Return the shared slot first: the next request of the same flow starts to wait for it only after getting its
    // flow's slot.
    this.#all.release();
    this.#releaseOwn(flow);
  }

  #releaseOwn(flow: string | undefined): void {
    if (flow === undefined) return;
    const own = this.#slotsOf(flow);
    own.release();
    if (own.taken === 0) this.#flows.delete(flow);
  }

  #slotsOf(flow: string): Slots {
    let own = this.#flows.get(flow);
    if (!own) {
      own = new Slots(Math.ceil(this.limit / 2));
      this.#flows.set(flow, own);
    }
    return own;
  }
}
