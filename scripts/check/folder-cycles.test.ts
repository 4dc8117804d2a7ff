import { expect, test } from 'vitest';
import { folderCycles } from './folder-cycles.ts';

const imports = (...pairs: readonly (readonly [string, string])[]) =>
  pairs.map(([from, to]) => ({ from: `packages/x/src/${from}`, to: `packages/x/src/${to}` }));

test('accepts folders that depend one way', () => {
  const oneWay = imports(['a/1.ts', 'b/1.ts'], ['b/1.ts', 'c/1.ts'], ['a/1.ts', 'c/2.ts']);
  expect(folderCycles(oneWay)).toEqual([]);
});

test('rejects two folders that import each other, and shows an import in each direction', () => {
  expect(folderCycles(imports(['a/1.ts', 'b/1.ts'], ['b/2.ts', 'a/2.ts']))).toEqual([
    'packages/x/src: a, b import each other\n  a/1.ts imports b/1.ts\n  b/2.ts imports a/2.ts',
  ]);
});

test('rejects a cycle through several folders, and reports it once', () => {
  const cycle = imports(['a/1.ts', 'b/1.ts'], ['b/1.ts', 'c/1.ts'], ['c/1.ts', 'a/2.ts'], ['d/1.ts', 'a/1.ts']);
  expect(folderCycles(cycle).map((problem) => problem.split('\n')[0])).toEqual([
    'packages/x/src: a, b, c import each other',
  ]);
});

test('checks the folders inside a folder', () => {
  const inside = imports(['a/left/1.ts', 'a/right/1.ts'], ['a/right/1.ts', 'a/left/2.ts']);
  expect(folderCycles(inside)[0]).toMatch(/^packages\/x\/src\/a: left, right import each other/);
});

test('rejects a cycle between a folder and a file next to it', () => {
  expect(folderCycles(imports(['deps.ts', 'a/1.ts'], ['a/2.ts', 'deps.ts']))).toHaveLength(1);
  expect(folderCycles(imports(['a/top.ts', 'a/b/1.ts'], ['a/b/1.ts', 'a/top.ts']))).toHaveLength(1);
});

test('accepts files of one folder that import each other', () => {
  expect(folderCycles(imports(['a/1.ts', 'a/2.ts'], ['a/2.ts', 'a/1.ts']))).toEqual([]);
});

test('reports two separate cycles of one folder separately', () => {
  const two = imports(['a/1.ts', 'b/1.ts'], ['b/1.ts', 'a/1.ts'], ['c/1.ts', 'd/1.ts'], ['d/1.ts', 'c/1.ts']);
  expect(folderCycles(two)).toHaveLength(2);
});
