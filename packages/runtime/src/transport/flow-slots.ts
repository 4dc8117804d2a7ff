import type { RequestScope } from './request-scope.ts';
import { Slots } from './slots.ts';

/**
 * FlowSlots bounds how many requests run at once, in all and of each flow: half of all. Requests of one flow that hang, because an
 * admission webhook of one namespace does, leave the other half to the rest.
 */
export class FlowSlots {
  readonly limit: number;
  readonly #all: Slots;
  /** Of flows with a request that runs or waits. */
  readonly #flows = new Map<string, Slots>();

  constructor(limit: number) {
    this.limit = limit;
    this.#all = new Slots(limit);
  }

  /** tryTake takes a slot if one is free for the flow; requests of no flow have all of them. */
  tryTake(flow: string | undefined): boolean {
    if (flow === undefined) return this.#all.tryTake();
    const own = this.#slotsOf(flow);
    if (!own.tryTake()) return false;
    if (this.#all.tryTake()) return true;
    this.#giveOwn(flow);
    return false;
  }

  /**
   * take waits for a slot, no longer than the request lives: first for one of the flow, then for one of all. The second wait,
   * for what others hold, goes through `othersHold`, which settles as it does.
   */
  async take(
    flow: string | undefined,
    scope: RequestScope,
    othersHold: (wait: Promise<void>) => Promise<void>,
  ): Promise<void> {
    if (flow !== undefined) {
      const own = this.#slotsOf(flow);
      if (!own.tryTake()) await own.take(scope);
    }
    try {
      // The request may have ended in the moment in which it got its turn.
      scope.throwIfCancelled();
      if (!this.#all.tryTake()) await othersHold(this.#all.take(scope));
    } catch (error) {
      this.#giveOwn(flow);
      throw error;
    }
  }

  /** give returns a slot; whoever has waited longest has it at once. */
  give(flow: string | undefined): void {
    // To the others first: the next of the same flow has only now begun to wait for it.
    this.#all.give();
    this.#giveOwn(flow);
  }

  #giveOwn(flow: string | undefined): void {
    if (flow === undefined) return;
    const own = this.#slotsOf(flow);
    own.give();
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
