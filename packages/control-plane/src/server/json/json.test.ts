import { describe, expect, it } from 'vitest';
import { canonicalJson, readJson } from './canonical-json.ts';
import { JsonSyntaxError, parseJson } from './parse-json.ts';

describe('parseJson', () => {
  it.each([
    '{}',
    '[]',
    ' {"a" : [1, 2.5, -3e2, true, false, null, "\\u00e9\\n\\"\\\\", {"b":{}}] }\n',
    '"x"',
    '9007199254740991',
    '-0.5',
  ])('reads %s as JSON.parse does', (text) => {
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
  ])('refuses %j', (text) => {
    expect(() => parseJson(text)).toThrow(JsonSyntaxError);
  });

  it('keeps integers that no double holds, and only those, as bigint', () => {
    const text = '{"big":9223372036854775807,"small":9007199254740991,"float":1e300}';
    const { value } = parseJson(text);
    expect(value).toEqual({ big: 9223372036854775807n, small: 9007199254740991, float: 1e300 });
  });

  it('names members that stand twice, and takes the last one', () => {
    const { value, duplicates } = parseJson('{"a":1,"spec":{"x":1,"l":[{"y":1,"y":2}],"x":2},"a":3}');
    expect(value).toEqual({ a: 3, spec: { x: 2, l: [{ y: 2 }] } });
    expect(duplicates).toEqual(['spec.l[0].y', 'spec.x', 'a']);
  });

  it('gives a member called __proto__ no power', () => {
    const { value } = parseJson('{"__proto__":{"polluted":true}}');
    expect(Object.keys(value as object)).toEqual(['__proto__']);
    expect((value as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('refuses a document that nests too deep, however long it is', () => {
    expect(() => parseJson('['.repeat(1_000_000))).toThrow(/nests deeper/);
  });
});

describe('canonicalJson', () => {
  it('is the same text for the same value in another order', () => {
    expect(canonicalJson({ b: { d: 1, c: [{ z: 1, y: 2 }] }, a: undefined })).toBe('{"b":{"c":[{"y":2,"z":1}],"d":1}}');
  });

  it('writes large integers as they were read', () => {
    const text = '{"big":9223372036854775807,"list":[-9223372036854775808,1]}';
    expect(canonicalJson(readJson(text))).toBe(text);
  });
});

describe('a text that is no JSON', () => {
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
  ])('is refused as the API server refuses %s', (text, message) => {
    expect(() => parseJson(text)).toThrow(new JsonSyntaxError(message));
  });
});
