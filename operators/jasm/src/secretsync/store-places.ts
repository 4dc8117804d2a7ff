import type { Clock } from '@bowline/machinery';

/**
 * MOST_RUNS is how many Secrets are worked on at the same time. Most of a run is waiting, for a store or for the API server, whose
 * rate of writes is flat from about 16 at a time.
 */
export const MOST_RUNS = 32;

/** The runs of which all may wait for one store: the rest are left to the Secrets of other stores. */
const MOST_WAITING = 24;

/** A store that has answered nobody for so long hangs. Nearly all answer sooner, and who is sent away has to begin anew. */
const HANGS_MS = 1_000;

interface Places {
  taken: number;
  /** When it last answered somebody; before that, when it was first asked. */
  answeredAt: number;
  /** Those who wait for a place of a store that answers: told whether they have one. */
  readonly line: ((hasPlace: boolean) => void)[];
  /** Those who were sent away, by their keys: how they are called back. */
  readonly sentAway: Map<string, () => void>;
}

/** StorePlaces bounds how many runs wait for one store: one that hangs holds up its own Secrets, and no others. */
export class StorePlaces {
  readonly #clock: Clock;
  readonly #stores = new Map<string, Places>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * waitFor waits for a store in one of its places. Where none is free, and none becomes free because the store hangs, it answers
   * undefined, and calls back when one is; who is called back may find it taken again.
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

  /** Takes a place, at once or in line. */
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

  /** Sends the line away when the store has hung for long enough. */
  #watch(places: Places): void {
    const leftMs = places.answeredAt + HANGS_MS - this.#clock.monotonic();
    this.#clock.setTimer(Math.max(0, leftMs), () => {
      if (places.line.length === 0) return;
      if (!this.#hangs(places)) this.#watch(places);
      else for (const tell of places.line.splice(0)) tell(false);
    });
  }

  /** Gives a place to the next in line, or calls back who was sent away. */
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

/** As many as there are places: one who was called back before may not have come. */
function callNext({ taken, sentAway }: Places): void {
  let free = MOST_WAITING - taken;
  for (const [key, callBack] of sentAway) {
    if (free-- === 0) return;
    sentAway.delete(key);
    callBack();
  }
}
