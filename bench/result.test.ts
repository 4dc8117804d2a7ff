import { expect, test } from 'vitest';
import { judge, measured, type SubjectResult } from './result.ts';

const subjects: readonly SubjectResult[] = [
  measured('ours', 'Bowline', [130, 120, 500]),
  measured('bare', 'bare loop', [100, 100, 90]),
  { id: 'peer', label: 'a Go program', leftOut: 'no Go' },
];

test('keeps every sample in addition to the median and the extremes', () => {
  expect(measured('a', 'A', [1.23456, 3, 2])).toEqual({
    id: 'a',
    label: 'A',
    rounds: 3,
    median: 2,
    min: 1.235,
    max: 3,
    samples: [1.235, 3, 2],
  });
});

test.each([
  { bound: 'at most', limit: 1.3, against: 'bare', value: 1.3, reached: true },
  { bound: 'at most', limit: 1.2, against: 'bare', value: 1.3, reached: false },
  { bound: 'at most', limit: 130, against: undefined, value: 130, reached: true },
  { bound: 'at least', limit: 131, against: undefined, value: 130, reached: false },
] as const)('judges the median: $value is $bound $limit is $reached', ({ bound, limit, against, value, reached }) => {
  const target = { id: 't', subject: 'ours', bound, limit, ...(against === undefined ? {} : { against }) };
  expect(judge(target, subjects)).toEqual({ ...target, value, reached });
});

test('checks the difference of a subject to another one', () => {
  const target = { id: 't', subject: 'ours', against: 'bare', by: 'difference', bound: 'at most' } as const;
  expect(judge({ ...target, limit: 30 }, subjects)).toMatchObject({ value: 30, reached: true });
  expect(judge({ ...target, limit: 29 }, subjects)).toMatchObject({ value: 30, reached: false });
});

test('returns the reason only if the target was missed', () => {
  const target = { id: 't', subject: 'ours', against: 'bare', bound: 'at most', limit: 1.3 } as const;
  expect(judge(target, subjects, 'decoding costs')).not.toHaveProperty('because');
  expect(judge({ ...target, limit: 1 }, subjects, 'decoding costs').because).toBe('decoding costs');
});

test('has no result if the peer was omitted', () => {
  const target = { id: 't', subject: 'ours', against: 'peer', bound: 'at most', limit: 1 } as const;
  expect(judge(target, subjects, 'whatever')).toEqual(target);
});
