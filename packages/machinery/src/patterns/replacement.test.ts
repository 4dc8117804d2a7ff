// biome-ignore-all lint/suspicious/noTemplateCurlyInString: groups are written like that
import { describe, expect, test } from 'vitest';
import { compileReplacement } from './replacement.ts';

describe('compileReplacement', () => {
  test.each<[pattern: string, replacement: string, text: string, result: string]>([
    ['a', 'b', 'banana', 'bbnbnb'],
    ['(\\w+)@(\\w+)', '$2 at $1', 'me@home', 'home at me'],
    ['(?P<host>\\w+)\\.internal', '${host}.example.com', 'db.internal', 'db.example.com'],
    ['(a)(x)?', '[$1$2]', 'ab', '[a]b'],
    ['b+', '<$0>', 'abbc', 'a<bb>c'],
    ['a', '$$1', 'a', '$1'],
    ['(a)', '${1}0', 'a', 'a0'],
    ['x*', '-', 'ab', '-a-b-'],
    ['(?i)HELLO', 'bye', 'Hello hello', 'bye bye'],
    ['é', '𝒳', 'aéb', 'a𝒳b'],
    ['.', 'x', '𝒳𝒳', 'xx'],
    ['a', '', 'banana', 'bnn'],
    ['z', 'x', '', ''],
  ])('replacing %j with %j turns %j into %j', (pattern, replacement, text, result) => {
    expect(compileReplacement(pattern, replacement).replaceAll(text)).toBe(result);
  });

  test.each([
    ['(a)', '$2', 'no group 2'],
    ['(a)', '$10', 'no group 10'],
    ['(a)', '${name}', 'no group name'],
    ['(a)', '${constructor}', 'no group constructor'],
    ['a', 'costs 5$', 'must be followed by a group'],
  ])('rejects %j with %j', (pattern, replacement, problem) => {
    expect(() => compileReplacement(pattern, replacement)).toThrow(
      expect.objectContaining({
        code: 'BOWLINE_REPLACEMENT_INVALID',
        message: expect.stringContaining(problem) as string,
      }),
    );
  });

  test('rejects a pattern that RE2 does not support', () => {
    expect(() => compileReplacement('(a)\\1', '')).toThrow(expect.objectContaining({ code: 'BOWLINE_SCHEMA_PATTERN' }));
  });

  test('stops when the result gets too long, before it exhausts memory', () => {
    const growing = compileReplacement('a', 'b'.repeat(60_000));
    expect(() => growing.replaceAll('a'.repeat(1_000_000), { maxLength: 1_048_576 })).toThrow(
      expect.objectContaining({ code: 'BOWLINE_REPLACEMENT_TOO_LONG' }),
    );
  });

  test.each([
    ['reads to the end of the text for every match', 'a(.*z)?', 2_000],
    ['has many instructions for every character', '(?i)(\\pL{1,300}\\d)', 5_000],
  ])('stops when a pattern %s', (_, pattern, length) => {
    expect(() => compileReplacement(pattern, 'x').replaceAll('a'.repeat(length), { maxSteps: 50_000 })).toThrow(
      expect.objectContaining({ code: 'BOWLINE_REPLACEMENT_BUDGET' }),
    );
  });

  test('processes a long text with a simple pattern with a group', () => {
    const text = 'host db1.internal\n'.repeat(5_000);
    const result = compileReplacement('(\\w+)\\.internal', '$1.test').replaceAll(text);
    expect(result).toBe('host db1.test\n'.repeat(5_000));
  });
});
