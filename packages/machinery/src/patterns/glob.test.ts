import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyGlob, glob } from './glob.ts';

describe('glob', () => {
  test.each<[pattern: string, text: string, matches: boolean]>([
    ['kube-system', 'kube-system', true],
    ['kube-system', 'kube-system2', false],
    ['', '', true],
    ['', 'a', false],
    ['kube-*', 'kube-', true],
    ['kube-*', 'kube-public', true],
    ['kube-*', 'my-kube-public', false],
    ['*', '', true],
    ['*', 'a.b', true],
    ['*', 'a/b', false],
    ['**', 'a/b', true],
    ['***', 'a/b', true],
    ['*/*', 'a/b', true],
    ['*/*', 'a/b/c', false],
    ['a/**', 'a/b/c', true],
    ['a/**', 'a', false],
    ['**/c', 'a/b/c', true],
    ['a*b**c', 'axb/y/c', true],
    ['a*b**c', 'a/b/c', false],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['?', '𝒳', true],
    ['*.*', 'app.yaml', true],
    ['a.c', 'abc', false],
    ['[ab]', 'a', false],
    ['[ab]', '[ab]', true],
    ['{a,b}*', '{a,b}c', true],
    ['\\*', '\\x', true],
    ['a\nb*', 'a\nb\n', true],
  ])('%j against %j is %j', (pattern, text, matches) => {
    expect(glob(pattern).matches(text)).toBe(matches);
  });

  test('agrees with a regular expression on short texts', () => {
    const part = fc.constantFrom('*', '**', '?', 'a', 'b', '/');
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 8 });
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), text, (parts, given) => {
        const pattern = parts.join('');
        const expression = pattern.replace(/\*+|\?/g, (mark) => (mark === '*' ? '[^/]*' : mark === '?' ? '.' : '.*'));
        expect(glob(pattern).matches(given)).toBe(new RegExp(`^${expression}$`, 's').test(given));
      }),
      { numRuns: 1_000 },
    );
  });

  test('returns for a pattern that makes backtracking matchers hang', () => {
    // 60 stars over 20,000 characters: 2^60 ways for a backtracking matcher.
    expect(glob(`${'*a'.repeat(60)}b`).matches('a'.repeat(20_000))).toBe(false);
    expect(glob(`${'**a*'.repeat(30)}b`).matches('a/'.repeat(10_000))).toBe(false);
  });
});

describe('anyGlob', () => {
  test('matches if any pattern matches', () => {
    const isSystem = anyGlob(['kube-*', 'default']);
    expect(['kube-system', 'default', 'shop'].map(isSystem)).toEqual([true, true, false]);
    expect(anyGlob([])('')).toBe(false);
  });
});
