import { describe, expect, it } from 'vitest';
import { JsonSyntaxError, parseJson } from './parse-json.ts';

describe('parseJson', () => {
  it.each([
    '{}',
    '[]',
    ' {"a" : [1, 2.5, -3e2, true, false, null, "\\u00e9\\n\\"\\\\", {"b":{}}] }\n',
    '"x"',
    '9007199254740991',
    '-0.5',
  ])('parses %s like JSON.parse', (text) => {
    expect(parseJson(text).value).toEqual(JSON.parse(text));
  });

  it.each([
    '',
    '{',
    '[1,]',
    '{"a":1,}',
    '{a:1}',
    "{'a':1}",
    '01',
    '1.',
    '.5',
    '+1',
    'nul',
    '"\u0001"',
    '"\\x"',
    '"open',
    '{"a" 1}',
    '[1 2]',
    '{} {}',
    'NaN',
    '1e999',
  ])('rejects %j', (text) => {
    expect(() => parseJson(text)).toThrow(JsonSyntaxError);
  });

  it('returns only integers that do not fit in a double as bigint', () => {
    const text = '{"big":9223372036854775807,"small":9007199254740991,"float":1e300}';
    const { value } = parseJson(text);
    expect(value).toEqual({ big: 9223372036854775807n, small: 9007199254740991, float: 1e300 });
  });

  it('passes every number literal to the number option', () => {
    const text = '[1.10, -0, 1E400, 12345678901234567890]';
    expect(parseJson(text, { number: (literal) => literal }).value).toEqual([
      '1.10',
      '-0',
      '1E400',
      '12345678901234567890',
    ]);
  });

  it('reports duplicate members, and uses the last one', () => {
    const { value, duplicates } = parseJson('{"a":1,"spec":{"x":1,"l":[{"y":1,"y":2}],"x":2},"a":3}');
    expect(value).toEqual({ a: 3, spec: { x: 2, l: [{ y: 2 }] } });
    expect(duplicates).toEqual(['spec.l[0].y', 'spec.x', 'a']);
  });

  it('treats __proto__ as an ordinary member', () => {
    const { value } = parseJson('{"__proto__":{"polluted":true}}');
    expect(Object.keys(value as object)).toEqual(['__proto__']);
    expect((value as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it.each([
    ['{"a": 1,\n x}', 10],
    ['[1e999]', 1],
    ['["\\x"]', 3],
    ['{"a":', 5],
  ])('reports the position of the error in %j', (text, position) => {
    expect(() => parseJson(text)).toThrow(expect.objectContaining({ position }));
  });

  it('rejects a document that nests too deeply, however long it is', () => {
    expect(() => parseJson('['.repeat(1_000_000))).toThrow(/nests deeper/);
  });
});

describe('invalid JSON', () => {
  it.each([
    ['nope', "invalid character 'o' in literal null (expecting 'u')"],
    ['{"a":', 'unexpected end of JSON input'],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 "b"}', "invalid character '\"' after object key:value pair"],
    ['[1 2]', "invalid character '2' after array element"],
    ['{a:1}', "invalid character 'a' looking for beginning of object key string"],
    ['{"a":"\\x"}', "invalid character 'x' in string escape code"],
    ['["\\u12x4"]', "invalid character 'x' in \\u hexadecimal character escape"],
    ['{} x', "invalid character 'x' after top-level value"],
    ['"\n"', "invalid character '\\n' in string literal"],
    ['{"a":-}', "invalid character '}' in numeric literal"],
    ["'a'", "invalid character '\\'' looking for beginning of value"],
  ])('is rejected with the error of the API server: %s', (text, message) => {
    expect(() => parseJson(text)).toThrow(expect.objectContaining({ name: 'JsonSyntaxError', message }));
  });
});
