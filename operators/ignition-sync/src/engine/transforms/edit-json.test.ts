import { describe, expect, it } from 'vitest';
import { editJson } from './edit-json.ts';
import { parseJsonPath } from './json-path.ts';

function edit(
  document: string,
  jsonPath: string,
  value: string,
  options: { creates?: boolean; keepsType?: boolean } = {},
) {
  const path = parseJsonPath(jsonPath) ?? [];
  const { bytes, isFound } = editJson(Buffer.from(document), {
    path,
    value,
    creates: false,
    keepsType: true,
    ...options,
  });
  return isFound ? bytes.toString() : undefined;
}

describe('setting a value', () => {
  it.each([
    [
      'keeps spaces, order and the final newline',
      '{ "b" : 1,\n\t"systemName"  :  "x" , "a": [ ] }\n',
      '{ "b" : 1,\n\t"systemName"  :  "gw" , "a": [ ] }\n',
    ],
    [
      'keeps a byte order mark and CRLF',
      '\ufeff{\r\n"systemName":"x"\r\n}\r\n',
      '\ufeff{\r\n"systemName":"gw"\r\n}\r\n',
    ],
    ['keeps escapes elsewhere', '{"a":"\\u00e4\\/","systemName":"\\u0041"}', '{"a":"\\u00e4\\/","systemName":"gw"}'],
    [
      'changes every occurrence of a repeated name',
      '{"systemName":1,"systemName":{"a":[1]}}',
      '{"systemName":"gw","systemName":"gw"}',
    ],
    ['finds a name that is written with escapes', '{"system\\u004eame":"x"}', '{"system\\u004eame":"gw"}'],
    ['ignores the name below the top level', '{"a":{"systemName":"x"},"b":[{"systemName":"x"}]}', undefined],
    ['ignores a document that is not an object', '["systemName"]', undefined],
  ])('%s', (_, before, after) => {
    expect(edit(before, '.systemName', 'gw', { keepsType: false })).toBe(after);
  });

  it.each([
    ['.a', '{"a":1}', '2', '{"a":2}'],
    ['.a', '{"a":1}', 'two', '{"a":"two"}'],
    ['.a', '{"a":"1"}', '2', '{"a":"2"}'],
    ['.a', '{"a":true}', 'false', '{"a":false}'],
    ['.a', '{"a":true}', '1', '{"a":"1"}'],
    ['.a', '{"a":null}', 'x', '{"a":"x"}'],
    ['.a', '{"a":1}', '01', '{"a":"01"}'],
    ['.a.b[1].c', '{"a":{"b":[{"c":1},{"c":2}]}}', '3', '{"a":{"b":[{"c":1},{"c":3}]}}'],
    ['.a[5]', '{"a":[1]}', '3', undefined],
    ['.a.b', '{"a":1}', '3', undefined],
  ])('keeps the type of %s in %s for %s', (path, before, value, after) => {
    expect(edit(before, path, value)).toBe(after);
  });

  it.each([
    ['.b', '{\n  "a": 1\n}\n', '{\n  "a": 1,\n  "b": "x"\n}\n'],
    ['.b', '{}', '{"b": "x"}'],
    ['.a.b.c', '{"a": {}}', '{"a": {"b": {"c": "x"}}}'],
    ['.a[0]', '{"a":[]}', undefined],
    ['.a.b', '{"a":1}', undefined],
    ['.a', '[1]', undefined],
  ])('creates %s in %s', (path, before, after) => {
    expect(edit(before, path, 'x', { creates: true })).toBe(after);
  });
});

describe('a JSON path', () => {
  it.each([
    ['.a[0].b-c', ['a', 0, 'b-c']],
    ['a', undefined],
    ['.a.', undefined],
    ['.a[x]', undefined],
    ['', undefined],
    ['$.a', undefined],
  ])('%s', (text, path) => {
    expect(parseJsonPath(text)).toEqual(path);
  });
});
