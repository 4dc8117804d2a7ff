/**
 * MOST_RUNS is how many Secrets are worked on at the same time. Most of a run is waiting, for a store or for the API server, whose
 * rate of writes is flat from about 16 at a time.
 */
export const MOST_RUNS = 32;

/** The runs of which all may wait for one store: the rest are left to the Secrets of other stores. */
const MOST_WAITING = 24;

interface Places {
  taken: number;
  /** Those who were sent away, by their keys: how they are called back. */
  readonly sentAway: Map<string, () => void>;
}

/** StorePlaces bounds how many runs wait for one store: one that hangs holds up its own Secrets, and no others. */
export class StorePlaces {
  readonly #stores = new Map<string, Places>();

  /**
   * waitFor waits for a store in one of its places. Where none is free it answers undefined at once, and calls back when one is;
   * who is called back may find it taken again.
   */
  async waitFor<T>(
    store: string,
    { key, callBack }: { readonly key: string; readonly callBack: () => void },
    read: () => Promise<T>,
  ): Promise<T | undefined> {
    const places = this.#stores.get(store) ?? { taken: 0, sentAway: new Map<string, () => void>() };
    this.#stores.set(store, places);
    if (places.taken >= MOST_WAITING) {
      places.sentAway.set(key, callBack);
      return undefined;
    }
    places.sentAway.delete(key);
    places.taken++;
    try {
      return await read();
    } finally {
      places.taken--;
      callNext(places);
    }
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
