import { expect, test } from 'vitest';
import { percentile, rotate, summarize } from './statistics.ts';

test.each([
  { samples: [5], fraction: 0.5, value: 5 },
  { samples: [1, 3], fraction: 0.5, value: 2 },
  { samples: [9, 1, 5], fraction: 0.5, value: 5 },
  { samples: [10, 2, 1], fraction: 0.5, value: 2 },
  { samples: [0, 100], fraction: 0.99, value: 99 },
  { samples: [3, 1, 2], fraction: 1, value: 3 },
  { samples: [3, 1, 2], fraction: 2, value: 3 },
])('percentile $fraction of $samples is $value', ({ samples, fraction, value }) => {
  expect(percentile(samples, fraction)).toBe(value);
});

test('rejects a percentile of no samples', () => {
  expect(() => percentile([], 0.5)).toThrow(RangeError);
});

test('does not reorder the samples it summarizes', () => {
  const samples = [3, 1, 2];
  expect(summarize(samples)).toEqual({ rounds: 3, median: 2, min: 1, max: 3 });
  expect(samples).toEqual([3, 1, 2]);
});

test('starts each round with another subject and keeps all of them', () => {
  expect([0, 1, 2, 3].map((round) => rotate(['a', 'b', 'c'], round).join(''))).toEqual(['abc', 'bca', 'cab', 'abc']);
  expect(rotate([], 4)).toEqual([]);
});
