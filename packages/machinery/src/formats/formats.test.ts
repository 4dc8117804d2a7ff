import { describe, expect, it } from 'vitest';
import { matchesPattern } from '../patterns/compile-pattern.ts';
import { FORMAT_NAMES, formatCheck } from './formats.ts';

describe('formatCheck', () => {
  it('knows a format with and without dashes, and ignores those that the API server ignores', () => {
    expect(formatCheck('date-time')).toBe(formatCheck('datetime'));
    expect(formatCheck('k8s-short-name')?.('abc')).toBe(true);
    expect(formatCheck('int32')).toBeUndefined();
    expect(formatCheck('constructor')).toBeUndefined();
  });

  // A backtracking check would not finish on these before the test ends.
  const hostile = [
    'a'.repeat(100_000),
    `${'a'.repeat(900)} ! <`,
    `${'a '.repeat(450)}<`,
    `"${'\\"'.repeat(400)}`,
    '1'.repeat(100_000),
    `${'a-'.repeat(50_000)}.`,
    `${'a.'.repeat(50_000)}-`,
    `${':'.repeat(100_000)}`,
    `http://${'%41'.repeat(30_000)}/`,
    `${'0:'.repeat(50_000)}z`,
    `2026-01-01t${'0'.repeat(100_000)}`,
    `${'='.repeat(100_000)}`,
  ];

  it.each(FORMAT_NAMES)('returns quickly for any text: %s', (format) => {
    for (const text of hostile) expect(typeof formatCheck(format)?.(text)).toBe('boolean');
  });
});

describe('matchesPattern', () => {
  it('takes linear time for a pattern with catastrophic backtracking', () => {
    expect(matchesPattern('^(a+)+$', `${'a'.repeat(5_000)}!`)).toBe(false);
  });

  it('evicts old patterns, and still matches with them', () => {
    for (let index = 0; index < 1_500; index++) expect(matchesPattern(`^x${index}$`, `x${index}`)).toBe(true);
    expect(matchesPattern('^x0$', 'x0')).toBe(true);
  });
});
