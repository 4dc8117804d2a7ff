import { describe, expect, it } from 'vitest';
import { pick, type Random, seededRandom } from '../random/random.ts';
import { canonicalFields } from './canonical-fields.ts';
import { fieldPaths } from './field-paths.ts';
import type { FieldsV1 } from './fields-v1.ts';
import { excludeFields, intersectFields, isEmptySet, subtractFields, uniteFields } from './set-operations.ts';

/** Returns a set with few different elements, so that two sets often overlap. */
function randomSet(random: Random, depth = 3): FieldsV1 {
  const fields: { [element: string]: FieldsV1 } = {};
  for (const element of ['f:a', 'f:b', 'k:{"x":1}', 'v:"y"']) {
    if (random.next() < 0.5) continue;
    const below = depth > 0 && random.next() < 0.6 ? randomSet(random, depth - 1) : {};
    fields[element] = isEmptySet(below) || random.next() < 0.5 ? below : { '.': {}, ...below };
  }
  return fields;
}

const pathsOf = (fields: FieldsV1): Set<string> => new Set(fieldPaths(fields));

describe('sets of fields', () => {
  it('unite, subtract and intersect like the sets of their paths', () => {
    const random = seededRandom(1);
    for (let run = 0; run < 200; run++) {
      const [a, b] = [randomSet(random), randomSet(random)];
      const [inA, inB] = [pathsOf(a), pathsOf(b)];
      expect(pathsOf(uniteFields(a, b))).toEqual(new Set([...inA, ...inB]));
      expect(pathsOf(subtractFields(a, b))).toEqual(new Set([...inA].filter((path) => !inB.has(path))));
      expect(pathsOf(intersectFields(a, b))).toEqual(new Set([...inA].filter((path) => inB.has(path))));
    }
  });

  it('exclude a field with everything in it', () => {
    const random = seededRandom(2);
    for (let run = 0; run < 200; run++) {
      const [a, b] = [randomSet(random), randomSet(random, 1)];
      const isExcluded = (path: string): boolean =>
        [...pathsOf(b)].some((each) => path === each || path.startsWith(`${each}.`) || path.startsWith(`${each}[`));
      expect(pathsOf(excludeFields(a, b))).toEqual(new Set([...pathsOf(a)].filter((path) => !isExcluded(path))));
    }
  });

  it('stay canonical: the result of an operation is in canonical form', () => {
    const random = seededRandom(3);
    for (let run = 0; run < 200; run++) {
      const [a, b] = [randomSet(random), randomSet(random)];
      const made = pick(random, [uniteFields, subtractFields, intersectFields, excludeFields])(a, b);
      expect(canonicalFields(made)).toEqual(made);
    }
  });

  it('are not modified by operations', () => {
    const random = seededRandom(4);
    for (let run = 0; run < 100; run++) {
      const [a, b] = [randomSet(random), randomSet(random)];
      const before = JSON.stringify([a, b]);
      for (const operate of [uniteFields, subtractFields, intersectFields, excludeFields]) operate(a, b);
      expect(JSON.stringify([a, b])).toBe(before);
    }
  });
});

describe('canonicalFields', () => {
  it.each([
    [undefined, {}],
    [null, {}],
    [{ 'f:a': null }, { 'f:a': {} }],
    [{ 'f:a': { '.': {} } }, { 'f:a': {} }],
    [{ 'k:{"b": 1, "a":"<"}': {} }, { 'k:{"a":"\\u003c","b":1}': {} }],
    [
      { 'v: "x"': {}, 'i:0': {} },
      { 'v:"x"': {}, 'i:0': {} },
    ],
    [{ 'f:__proto__': {}, 'z:later': {} }, { 'f:__proto__': {} }],
  ])('converts %j to %j', (given, expected) => {
    expect(canonicalFields(given)).toEqual(expected);
  });

  it.each([
    [[]],
    ['x'],
    [1],
    [{ a: {} }],
    [{ 'k:x': {} }],
    [{ 'k:1': {} }],
    [{ 'v:': {} }],
    [{ 'i:x': {} }],
    [{ 'f:a': 1 }],
  ])('rejects %j', (given) => {
    expect(canonicalFields(given)).toBeUndefined();
  });
});

describe('fieldPaths', () => {
  it('lists fields before elements, members before nested members, and numbers in numerical order', () => {
    const fields = {
      'f:ports': {
        'k:{"port":443,"protocol":"TCP"}': { 'f:name': {} },
        'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:name': {} },
      },
      'v:"b"': {},
      'v:"a"': {},
      'v:10': {},
      'v:9': {},
      'i:0': {},
      'f:z': {},
    };
    expect(fieldPaths(fields)).toEqual([
      '.z',
      '[=9]',
      '[=10]',
      '[="a"]',
      '[="b"]',
      '[0]',
      '.ports[port=80,protocol="TCP"]',
      '.ports[port=80,protocol="TCP"].name',
      '.ports[port=443,protocol="TCP"].name',
    ]);
  });
});
