import type { Clock } from '@bowline/machinery';

/**
 * MOST_RUNS is the number of Secrets that are reconciled concurrently. Most of a run is spent waiting for a store or
 * for the API server, whose write throughput does not increase beyond about 16 concurrent requests.
 */
export const MOST_RUNS = 32;

/** The number of runs that may wait for one store; the rest are reserved for the Secrets of other stores. */
const MOST_WAITING = 24;

/**
 * A store that has not answered any call for this long counts as hanging. Nearly all stores answer sooner, and a run
 * that is turned away has to start again.
 */
const HANGS_MS = 1_000;

interface Places {
  taken: number;
  /** When it last answered a call; before the first answer, when it was first called. */
  answeredAt: number;
  /** The runs that wait for a place at a store that answers. Each is called with whether it got a place. */
  readonly line: ((hasPlace: boolean) => void)[];
  /** The callbacks of the runs that were turned away, by key. */
  readonly sentAway: Map<string, () => void>;
}

/** StorePlaces limits how many runs wait for one store: a store that hangs delays its own Secrets, and no others. */
export class StorePlaces {
  readonly #clock: Clock;
  readonly #stores = new Map<string, Places>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * waitFor runs `read` in one of the store's places. If none is free, and none becomes free because the store hangs,
   * it returns undefined, and calls `callBack` when one is free. That place may be taken again by then.
   */
  async waitFor<T>(
    store: string,
    { key, callBack }: { readonly key: string; readonly callBack: () => void },
    read: () => Promise<T>,
  ): Promise<T | undefined> {
    const places = this.#placesOf(store);
    if (!(await this.#hasPlace(places))) {
      places.sentAway.set(key, callBack);
      return undefined;
    }
    places.sentAway.delete(key);
    try {
      return await read();
    } finally {
      this.#leave(places);
    }
  }

  #placesOf(store: string): Places {
    const known = this.#stores.get(store);
    if (known) return known;
    const places: Places = { taken: 0, answeredAt: this.#clock.monotonic(), line: [], sentAway: new Map() };
    this.#stores.set(store, places);
    return places;
  }

  /** Takes a place, at once or after waiting in line. */
  #hasPlace(places: Places): boolean | Promise<boolean> {
    if (places.taken === 0) places.answeredAt = this.#clock.monotonic();
    if (places.taken < MOST_WAITING) {
      places.taken++;
      return true;
    }
    if (this.#hangs(places)) return false;
    return new Promise((resolve) => {
      places.line.push(resolve);
      if (places.line.length === 1) this.#watch(places);
    });
  }

  #hangs({ answeredAt }: Places): boolean {
    return this.#clock.monotonic() - answeredAt >= HANGS_MS;
  }

  /** Turns the waiting line away when the store has hung for long enough. */
  #watch(places: Places): void {
    const leftMs = places.answeredAt + HANGS_MS - this.#clock.monotonic();
    this.#clock.setTimer(Math.max(0, leftMs), () => {
      if (places.line.length === 0) return;
      if (!this.#hangs(places)) this.#watch(places);
      else for (const tell of places.line.splice(0)) tell(false);
    });
  }

  /** Passes the place on to the next in line, or calls back a run that was turned away. */
  #leave(places: Places): void {
    places.answeredAt = this.#clock.monotonic();
    const next = places.line.shift();
    if (next) {
      next(true);
      return;
    }
    places.taken--;
    callNext(places);
  }
}

/** Calls back as many as there are free places: an earlier one might not have returned. */
function callNext({ taken, sentAway }: Places): void {
  let free = MOST_WAITING - taken;
  for (const [key, callBack] of sentAway) {
    if (free-- === 0) return;
    sentAway.delete(key);
    callBack();
  }
}
