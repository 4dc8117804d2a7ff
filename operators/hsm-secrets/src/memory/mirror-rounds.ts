import { BoundedMap } from '@bowline/machinery';
import type { KeyStream } from '@bowline/runtime/controller';

/** MirrorRound is what is remembered of the last comparison of the devices of a pool. */
export interface MirrorRound {
  readonly at: number;
  /** The serial numbers of the devices that were compared, and have what the primary device has. */
  readonly synced: ReadonlySet<string>;
  /** The devices that could be called, to notice one that returns. */
  readonly reachable: string;
}

const MAX_POOLS = 10_000;

/** MirrorRounds remembers when the devices of each pool, `namespace/name`, were compared, and requests to do it again. */
export class MirrorRounds {
  readonly #rounds = new BoundedMap<string, MirrorRound>({ maxEntries: MAX_POOLS });
  readonly #requests = new BoundedMap<string, number>({ maxEntries: MAX_POOLS });
  readonly #requestedPools: KeyStream;

  constructor(requestedPools: KeyStream) {
    this.#requestedPools = requestedPools;
  }

  /** request asks for a comparison, for example after a write. A later request delays it. */
  request(pool: string, now: number): void {
    this.#requests.set(pool, now);
    this.#requestedPools.add(pool);
  }

  /** requestedAt returns when the last comparison was requested that has not happened yet. */
  requestedAt(pool: string): number | undefined {
    return this.#requests.get(pool);
  }

  last(pool: string): MirrorRound | undefined {
    return this.#rounds.get(pool);
  }

  /** complete records a comparison that began at a time. A request that came later is still open. */
  complete(pool: string, round: MirrorRound): void {
    this.#rounds.set(pool, round);
    if ((this.#requests.get(pool) ?? Number.POSITIVE_INFINITY) <= round.at) this.#requests.delete(pool);
  }
}
