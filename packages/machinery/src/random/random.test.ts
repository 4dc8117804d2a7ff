import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { between, integerBelow, pick, type Random, seededRandom, systemRandom } from './random.ts';

const take = (random: Random, count: number): number[] => Array.from({ length: count }, () => random.next());

describe('seededRandom', () => {
  it('returns the same sequence for the same seed, on every machine', () => {
    expect(take(seededRandom(1), 3)).toEqual([0.6270739405881613, 0.002735721180215478, 0.5274470399599522]);
    expect(take(seededRandom(7), 50)).toEqual(take(seededRandom(7), 50));
  });

  it('returns another sequence for another seed, and each generator has its own state', () => {
    expect(take(seededRandom(1), 5)).not.toEqual(take(seededRandom(2), 5));
    const one = seededRandom(3);
    take(seededRandom(3), 10);
    expect(take(one, 3)).toEqual(take(seededRandom(3), 3));
  });

  it('stays in [0, 1) for any seed, also negative and fractional ones', () => {
    fc.assert(
      fc.property(fc.oneof(fc.integer(), fc.double({ noNaN: true })), (seed) => {
        for (const value of take(seededRandom(seed), 20)) {
          expect(value).toBeGreaterThanOrEqual(0);
          expect(value).toBeLessThan(1);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('is uniform enough for jitter', () => {
    const buckets = new Array<number>(10).fill(0);
    const random = seededRandom(42);
    for (let draw = 0; draw < 10_000; draw++) {
      const bucket = integerBelow(random, 10);
      buckets[bucket] = (buckets[bucket] ?? 0) + 1;
    }
    // The standard deviation of a bucket is 30; this allows five of them.
    for (const count of buckets) expect(Math.abs(count - 1000)).toBeLessThan(150);
  });
});

describe('between, integerBelow and pick', () => {
  const edge = (value: number): Random => ({ next: () => value });
  const almostOne = 1 - 2 ** -53;

  it('stay inside their bounds at both ends', () => {
    expect(between(edge(0), 5, 10)).toBe(5);
    expect(between(edge(0.5), 5, 10)).toBe(7.5);
    expect(integerBelow(edge(0), 3)).toBe(0);
    expect(integerBelow(edge(almostOne), 3)).toBe(2);
    expect(pick(edge(0), ['a', 'b'])).toBe('a');
    expect(pick(edge(almostOne), ['a', 'b'])).toBe('b');
  });

  it('picks falsy elements, and rejects an empty list', () => {
    expect(pick(edge(0), [0, 1])).toBe(0);
    expect(pick<string | null>(edge(0), [null])).toBeNull();
    expect(() => pick(edge(0), [])).toThrow(RangeError);
  });
});

it('systemRandom is in [0, 1)', () => {
  for (const value of take(systemRandom, 100)) expect(value >= 0 && value < 1).toBe(true);
});
