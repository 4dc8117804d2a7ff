/** Random is an injected source of randomness, so that jitter is reproducible with a seed. */
export interface Random {
  /** next returns a number in [0, 1). */
  next(): number;
}

/** systemRandom uses Math.random: suitable for jitter, never for secrets. */
export const systemRandom: Random = { next: () => Math.random() };

/** seededRandom returns the same sequence for the same seed on every machine (mulberry32). */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return {
    next() {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    },
  };
}

/** between returns a number in [low, high). */
export function between(random: Random, low: number, high: number): number {
  return low + random.next() * (high - low);
}

/** integerBelow returns a whole number in [0, bound). */
export function integerBelow(random: Random, bound: number): number {
  return Math.floor(random.next() * bound);
}

/** pick returns one element of a non-empty list. */
export function pick<T>(random: Random, items: readonly T[]): T {
  const item = items[integerBelow(random, items.length)];
  if (item === undefined) throw new RangeError('pick needs a non-empty list');
  return item;
}
