import { expect, test } from 'vitest';
import { parseJsonPath } from './json-path.ts';

const DOCUMENT = {
  a: { b: 1, 'c.d': 2, 'x-y': 3 },
  list: [
    { name: 'one', n: 1, ok: true },
    { name: 'two', n: 2, ok: false },
    { name: 'three', n: 3 },
  ],
  deep: { list: [{ name: 'inner' }] },
};

test.each<[path: string, found: unknown[]]>([
  ['.a.b', [1]],
  ['$.a.b', [1]],
  ['.', [DOCUMENT]],
  [".a['c.d']", [2]],
  ['.a["c.d"]', [2]],
  ['.a.c\\.d', [2]],
  ['.a.x-y', [3]],
  ['.a.none.b', []],
  ['.a.constructor', []],
  ['.list[0].name', ['one']],
  ['.list[-1].name', ['three']],
  ['.list[9].name', []],
  ['.list[0:2].n', [1, 2]],
  ['.list[::2].n', [1, 3]],
  ['.list[0,2].n', [1, 3]],
  ['.list[*].name', ['one', 'two', 'three']],
  [".a['b','x-y']", [1, 3]],
  ['.list.name', []],
  ['..name', ['one', 'two', 'three', 'inner']],
  ['.list[?(@.name=="two")].n', [2]],
  [".list[?(@.name=='two')].n", [2]],
  ['.list[?(@.n>1)].name', ['two', 'three']],
  ['.list[?(@.n <= 2)].name', ['one', 'two']],
  ['.list[?(@.ok)].name', ['one', 'two']],
  ['.list[?(@.ok==true)].name', ['one']],
  ['.list[?(@.name!="two")].n', [1, 3]],
  ['.list[?(@.name==1)].n', []],
])('%s finds the same values as kubectl', (path, found) => {
  expect(parseJsonPath(path)?.(DOCUMENT)).toEqual(found);
});

test.each(['.a[', '.list[?(@.a==)]', 'a', '.a b', '.list[x]', '.a[]'])('%s is not a path', (path) => {
  expect(parseJsonPath(path)).toBeUndefined();
});

test('A path over a large document terminates', () => {
  let document: unknown = { name: 1 };
  for (let depth = 0; depth < 12; depth++) document = { name: 1, list: [document, document] };
  expect(parseJsonPath('..name')?.(document).length).toBeLessThanOrEqual(10_000);
});
