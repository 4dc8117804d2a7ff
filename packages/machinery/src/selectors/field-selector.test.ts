import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeFieldValue, parseFieldSelector } from './field-selector.ts';

describe('parseFieldSelector', () => {
  const fields = { 'metadata.name': 'a,b', 'status.phase': 'Running', empty: '' };
  it.each([
    ['', true],
    [',', true],
    ['=', true],
    ['!=', true],
    ['status.phase=Running', true],
    ['status.phase==Running', true],
    ['status.phase!=Running', false],
    ['status.phase!=Failed', true],
    [String.raw`metadata.name=a\,b`, true],
    [String.raw`metadata.name=a\,b,status.phase=Running`, true],
    [String.raw`metadata.name=a\,b,status.phase=Failed`, false],
    ['empty=', true],
    ['missing=', true],
    ['missing!=', false],
    ['missing=x', false],
  ])('%j on the sample fields is %s', (text, expected) => {
    expect(parseFieldSelector(text).matches(fields)).toBe(expected);
  });

  it('returns its requirements unescaped and its text in canonical order', () => {
    const selector = parseFieldSelector(String.raw`b==x\=\\,,a!=y`);
    expect(selector.requirements).toEqual([
      { field: 'a', operator: '!=', value: 'y' },
      { field: 'b', operator: '=', value: String.raw`x=\ `.trim() },
    ]);
    expect(String(selector)).toBe(String.raw`a!=y,b=x\=\\`);
  });

  it.each([
    ['a', "invalid selector: 'a'; can't understand 'a'"],
    ['a=b,c', "invalid selector: 'a=b,c'; can't understand 'c'"],
    ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
    [String.raw`a=b\c`, String.raw`invalid field selector: invalid escape sequence: \c`],
    ['a=b\\', 'invalid field selector: invalid escape sequence: \\'],
  ])('rejects %j with the error of the API server', (text, detail) => {
    expect(() => parseFieldSelector(text)).toThrow(
      expect.objectContaining({ code: 'BOWLINE_SELECTOR_INVALID', detail }),
    );
  });

  it('matches any escaped value', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', ',', '=', '\\', '!', '\n', '😀') }), (value) => {
        const selector = parseFieldSelector(`f=${escapeFieldValue(value)}`);
        expect(selector.matches({ f: value })).toBe(true);
        expect(selector.matches({ f: `${value}x` })).toBe(false);
        expect(String(parseFieldSelector(String(selector)))).toBe(String(selector));
      }),
    );
  });
});
