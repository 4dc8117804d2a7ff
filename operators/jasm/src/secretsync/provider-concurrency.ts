import type { Clock } from '@bowline/machinery';

/**
 * MAX_CONCURRENT_RUNS is the number of Secrets that are reconciled concurrently. Most of a run is spent waiting for a
 * store or for the API server, whose write throughput does not increase beyond about 16 concurrent requests.
 */
export const MAX_CONCURRENT_RUNS = 32;

/** The number of runs that may wait for one store; the rest are reserved for the Secrets of other stores. */
const MAX_RUNS_PER_PROVIDER = 24;

/**
 * A store that has not answered any call for this long counts as hanging. Nearly all stores answer sooner, and a run
 * that is turned away has to start again.
 */
const HANG_TIMEOUT_MS = 1_000;

interface ProviderSlots {
  inUse: number;
  /** When it last answered a call; before the first answer, when it was first called. */
  respondedAt: number;
  /** The runs that wait for a place at a store that answers. Each is called with whether it got a place. */
  readonly queue: ((acquire: boolean) => void)[];
  /** The callbacks of the runs that were turned away, by key. */
  readonly deferred: Map<string, () => void>;
}

/**
 * ProviderConcurrency limits how many runs wait for one store: a store that hangs delays its own Secrets, and no
 * others.
 */
export class ProviderConcurrency {
  readonly #clock: Clock;
  readonly #stores = new Map<string, ProviderSlots>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * runWithSlot runs `read` in one of the store's places. If none is free, and none becomes free because the store
   * hangs, it returns undefined, and calls `callBack` when one is free. That place may be taken again by then.
   */
  async runWithSlot<T>(
    store: string,
    { key, callBack }: { readonly key: string; readonly callBack: () => void },
    read: () => Promise<T>,
  ): Promise<T | undefined> {
    const slots = this.#slotsOf(store);
    if (!(await this.#acquire(slots))) {
      slots.deferred.set(key, callBack);
      return undefined;
    }
    slots.deferred.delete(key);
    try {
      return await read();
    } finally {
      this.#release(slots);
    }
  }

  #slotsOf(store: string): ProviderSlots {
    const known = this.#stores.get(store);
    if (known) return known;
    const slots: ProviderSlots = { inUse: 0, respondedAt: this.#clock.monotonic(), queue: [], deferred: new Map() };
    this.#stores.set(store, slots);
    return slots;
  }

  /** Takes a place, at once or after waiting in line. */
  #acquire(slots: ProviderSlots): boolean | Promise<boolean> {
    if (slots.inUse === 0) slots.respondedAt = this.#clock.monotonic();
    if (slots.inUse < MAX_RUNS_PER_PROVIDER) {
      slots.inUse++;
      return true;
    }
    if (this.#isHanging(slots)) return false;
    return new Promise((resolve) => {
      slots.queue.push(resolve);
      if (slots.queue.length === 1) this.#watchForHang(slots);
    });
  }

  #isHanging({ respondedAt }: ProviderSlots): boolean {
    return this.#clock.monotonic() - respondedAt >= HANG_TIMEOUT_MS;
  }

  /** Turns the waiting line away when the store has hung for long enough. */
  #watchForHang(slots: ProviderSlots): void {
    const leftMs = slots.respondedAt + HANG_TIMEOUT_MS - this.#clock.monotonic();
    this.#clock.setTimer(Math.max(0, leftMs), () => {
      if (slots.queue.length === 0) return;
      if (!this.#isHanging(slots)) this.#watchForHang(slots);
      else for (const grant of slots.queue.splice(0)) grant(false);
    });
  }

  /** Passes the place on to the next in line, or calls back a run that was turned away. */
  #release(slots: ProviderSlots): void {
    slots.respondedAt = this.#clock.monotonic();
    const next = slots.queue.shift();
    if (next) {
      next(true);
      return;
    }
    slots.inUse--;
    notifyDeferred(slots);
  }
}

/** Calls back as many as there are free places: an earlier one might not have returned. */
function notifyDeferred({ inUse, deferred }: ProviderSlots): void {
  let free = MAX_RUNS_PER_PROVIDER - inUse;
  for (const [key, callBack] of deferred) {
    if (free-- === 0) return;
    deferred.delete(key);
    callBack();
  }
}
