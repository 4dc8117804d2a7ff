import type { Resource } from '@bowline/kubernetes';
import type { Clock } from '@bowline/machinery';

/** The server may be upgraded while this process runs; retrying this often costs one rejected request. */
const FORGET_AFTER_MS = 3_600_000;

/** ServerSupport remembers, per kind, what the server has rejected, so that not every relist has to try it. */
export class ServerSupport {
  readonly #wire: Clock;
  readonly #refused = new Map<string, number>();

  constructor(wire: Clock) {
    this.#wire = wire;
  }

  /** supportsStreaming returns whether to try a watch that starts with the current state (KEP-3157). */
  supportsStreaming(resource: Resource): boolean {
    const refusedAt = this.#refused.get(resource.id);
    return refusedAt === undefined || this.#wire.monotonic() - refusedAt > FORGET_AFTER_MS;
  }

  /**
   * markStreamingUnsupported records that the server does not support streamed lists, or does not deliver them in
   * practice.
   */
  markStreamingUnsupported(resource: Resource): void {
    this.#refused.set(resource.id, this.#wire.monotonic());
  }
}
