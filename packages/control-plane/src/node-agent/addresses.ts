/**
 * Addresses assigns IPv4 addresses of an unreachable network, each to one owner at a time. It remembers only addresses that are
 * not yet visible in the cluster: the caller passes which ones are in use.
 */
export class Addresses {
  readonly #base: number;
  readonly #size: number;
  readonly #given = new Map<string, string>();
  readonly #taken = new Set<string>();
  #next = 1;

  /** `network` is an IPv4 network such as `10.244.0.0/16`. */
  constructor(network: string) {
    const match = /^(\d+)\.(\d+)\.(\d+)\.(\d+)\/(\d+)$/.exec(network);
    const parts = (match ?? []).slice(1, 5).map(Number);
    const bits = Number(match?.[5]);
    if (parts.length !== 4 || parts.some((part) => part > 255) || !(bits >= 8 && bits <= 28)) {
      throw new RangeError(`"${network}" is not an IPv4 network of 8 to 28 bits such as 10.244.0.0/16`);
    }
    this.#size = 2 ** (32 - bits);
    const address = parts.reduce((sum, part) => sum * 256 + part, 0);
    this.#base = address - (address % this.#size);
  }

  /** take returns the owner's address, the same one until `release`. Undefined if every address is in use. */
  take(owner: string, isUsed: (address: string) => boolean): string | undefined {
    const given = this.#given.get(owner);
    if (given !== undefined) return given;
    // Skip the network address and the broadcast address.
    for (let tried = 0; tried < this.#size - 2; tried++) {
      const address = format(this.#base + this.#next);
      this.#next = this.#next >= this.#size - 2 ? 1 : this.#next + 1;
      if (this.#taken.has(address) || isUsed(address)) continue;
      this.#given.set(owner, address);
      this.#taken.add(address);
      return address;
    }
    return undefined;
  }

  /** release forgets an owner: it was deleted, or its address is visible in the cluster. */
  release(owner: string): void {
    const address = this.#given.get(owner);
    if (address === undefined) return;
    this.#given.delete(owner);
    this.#taken.delete(address);
  }
}

function format(address: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.');
}
