import { describe, expect, test } from 'vitest';
import { compilePattern } from './compile-pattern.ts';
import { patternSize } from './pattern-size.ts';

describe('patternSize', () => {
  test.each([
    '',
    'abc',
    'a{1000}',
    'a{1000}'.repeat(20),
    'a{2,500}b{3,}',
    '(a?){1000}',
    '((a{10}){10}){10}',
    '(?:ab|cd){20}(?P<name>x{30})(?i:y{40})',
    '[a-z]{100}[^]a]{100}[[:alpha:]]{50}[\\]x]{50}',
    '\\x{41}{100}\\d{100}\\{5}',
    '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$',
  ])('of %.60s is close to the program size of the engine', (pattern) => {
    const real = compilePattern(pattern).programSize();
    expect(patternSize(pattern)).toBeGreaterThan(real / 4 - 10);
    expect(patternSize(pattern)).toBeLessThan(real * 4 + 10);
  });

  test.each(['(', ')', '((((', '))))', '{5}', '*', '[', '[^', '\\', 'a{', 'a{5', '\\p{', '(?', '|', 'a{999999999}'])(
    'of an invalid pattern (%s) is a number',
    (pattern) => {
      expect(patternSize(pattern)).toBeGreaterThanOrEqual(0);
    },
  );

  test('counts Unicode classes as large', () => {
    expect(patternSize('\\pL[\\p{Greek}x]')).toBe(40);
  });

  test('reads long patterns in one pass', () => {
    expect(patternSize('a{1000}'.repeat(100_000))).toBe(100_000_000);
    expect(patternSize('('.repeat(500_000))).toBeGreaterThan(500_000);
    expect(patternSize('['.repeat(500_000))).toBeGreaterThan(0);
  });
});
