import type { Resource } from '@bowline/kubernetes';
import type { Clock } from '@bowline/machinery';

/** A server may be upgraded under a running process; asking again this often costs one refused request. */
const FORGET_AFTER_MS = 3_600_000;

/** ServerSupport remembers, per kind, what the server has refused, so that not every relist has to find out again. */
export class ServerSupport {
  readonly #wire: Clock;
  readonly #refused = new Map<string, number>();

  constructor(wire: Clock) {
    this.#wire = wire;
  }

  /** streamsLists says whether to try a watch that begins with the current state (KEP-3157). */
  streamsLists(resource: Resource): boolean {
    const refusedAt = this.#refused.get(resource.id);
    return refusedAt === undefined || this.#wire.monotonic() - refusedAt > FORGET_AFTER_MS;
  }

  /** refusedStreaming remembers that the server cannot, or does not in practice. */
  refusedStreaming(resource: Resource): void {
    this.#refused.set(resource.id, this.#wire.monotonic());
  }
}
