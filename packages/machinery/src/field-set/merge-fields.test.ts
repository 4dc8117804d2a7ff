import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../json/json.ts';
import type { StructuralSchema } from '../structural-schema/structural-schema.ts';
import { appliedSet } from './applied-set.ts';
import { compareFields } from './compare-fields.ts';
import { ANY_SHAPE, builtInShape, customShape, type FieldShape } from './field-shape.ts';
import { mergeFields } from './merge-fields.ts';
import { collapseAtomicFields } from './narrow-fields.ts';
import { pruneFields } from './prune-fields.ts';
import { removeFields } from './remove-fields.ts';
import { uniteFields } from './set-operations.ts';
import { shapeProblems } from './shape-problems.ts';

const text: StructuralSchema = { type: 'string' };
const shape = customShape({
  type: 'object',
  properties: {
    one: text,
    bag: { type: 'object', additionalProperties: text },
    whole: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: text, b: text } },
    plain: { type: 'array', items: text },
    set: { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
    map: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      items: { type: 'object', properties: { k: text, v: text, w: text } },
    },
  },
});

/** The order of elements in a merged list. */
const merged = (live: string[], applied: string[]): unknown => mergeFields({ set: live }, { set: applied }, shape).set;

describe('mergeFields', () => {
  it.each([
    [
      ['a', 'b'],
      ['b', 'a'],
      ['b', 'a'],
    ],
    [
      ['a', 'b', 'c'],
      ['c', 'a'],
      ['b', 'c', 'a'],
    ],
    [
      ['a', 'b', 'c'],
      ['x', 'b', 'y'],
      ['a', 'x', 'b', 'c', 'y'],
    ],
    [['a', 'b'], ['x'], ['a', 'b', 'x']],
    [
      ['a', 'x', 'b'],
      ['b', 'y', 'a', 'z'],
      ['x', 'b', 'y', 'a', 'z'],
    ],
    [[], ['a'], ['a']],
    [['a'], [], ['a']],
  ])('merges %j and %j to %j', (live, applied, expected) => {
    expect(merged(live, applied)).toEqual(expected);
  });

  it('merges maps by key, lists by element, and replaces atomic values', () => {
    const live = { bag: { a: '1', b: '1' }, whole: { a: '1' }, plain: ['a'], map: [{ k: 'x', v: '1', w: '1' }] };
    const applied = { bag: { b: '2' }, whole: { b: '2' }, plain: ['b'], map: [{ k: 'x', v: '2' }, { k: 'y' }] };
    expect(mergeFields(live, applied, shape)).toEqual({
      bag: { a: '1', b: '2' },
      whole: { b: '2' },
      plain: ['b'],
      map: [{ k: 'x', v: '2', w: '1' }, { k: 'y' }],
    });
  });

  it('lets null replace scalars and atomic values only', () => {
    const live = { one: '1', bag: { a: '1' }, set: ['a'], plain: ['a'] };
    const applied = { one: null, bag: null, set: null, plain: null };
    expect(mergeFields(live, applied, shape)).toEqual({ one: null, bag: { a: '1' }, set: ['a'], plain: null });
  });

  it('keeps __proto__ as the name of a member', () => {
    const proto = (value: string): JsonObject => JSON.parse(`{"bag":{"__proto__":"${value}"}}`) as JsonObject;
    const { bag } = mergeFields(proto('1'), proto('2'), shape);
    expect(Object.entries(bag as object)).toEqual([['__proto__', '2']]);
    expect(appliedSet(proto('1'), shape)).toEqual({ 'f:bag': { 'f:__proto__': {} } });
  });
});

describe('removeFields', () => {
  it('sets an emptied map to null', () => {
    const object = { one: '1', bag: { a: '1' }, set: ['a', 'b'], map: [{ k: 'x', v: '1' }, { k: 'y' }] };
    const fields = {
      'f:bag': { 'f:a': {} },
      'f:set': { 'v:"a"': {} },
      'f:map': { 'k:{"k":"x"}': { 'f:v': {} }, 'k:{"k":"y"}': {} },
    };
    expect(removeFields(object, fields, shape)).toEqual({ one: '1', bag: null, set: ['b'], map: [{ k: 'x' }] });
  });
});

describe('pruneFields', () => {
  const prune = (object: JsonObject, last: JsonObject, now: JsonObject, others: JsonObject = {}): JsonObject =>
    pruneFields(object, appliedSet(last, shape), uniteFields(appliedSet(now, shape), appliedSet(others, shape)), shape);

  it('removes fields that are no longer applied, unless another manager owns them', () => {
    const object = { bag: { a: '1', b: '1', c: '1' }, set: ['x', 'y'] };
    expect(prune(object, object, { bag: { a: '1' } })).toEqual({ bag: { a: '1' } });
    expect(prune(object, object, { bag: { a: '1' } }, { bag: { b: '1' }, set: ['y'] })).toEqual({
      bag: { a: '1', b: '1' },
      set: ['y'],
    });
  });

  it('keeps unowned fields', () => {
    const object = { bag: { a: '1', b: '1' }, one: '1' };
    expect(prune(object, { bag: { a: '1' } }, {}, { bag: { b: '1' } })).toEqual({ bag: { b: '1' }, one: '1' });
  });
});

describe('compareFields', () => {
  it.each<[string, JsonObject, JsonObject, FieldShape, object, object]>([
    ['nothing', { one: '1', set: ['a', 'b'] }, { one: '1', set: ['b', 'a'] }, shape, {}, {}],
    ['a map that is new', {}, { bag: { a: '1' } }, shape, { 'f:bag': { '.': {}, 'f:a': {} } }, {}],
    ['a map that was null', { bag: null }, { bag: { a: '1' } }, shape, { 'f:bag': { 'f:a': {} } }, {}],
    ['a map that became empty', { bag: { a: '1' } }, { bag: {} }, shape, {}, { 'f:bag': { 'f:a': {} } }],
    ['null and an empty map', { bag: null }, { bag: {} }, shape, { 'f:bag': {} }, {}],
    ['a part of an atomic map', { whole: { a: '1', b: '1' } }, { whole: { a: '1' } }, shape, { 'f:whole': {} }, {}],
    ['an object that became a string', { a: { b: 1 } }, { a: 't' }, ANY_SHAPE, { 'f:a': {} }, { 'f:a': { 'f:b': {} } }],
    ['a string that became an object', { a: 't' }, { a: { b: 1 } }, ANY_SHAPE, { 'f:a': { '.': {}, 'f:b': {} } }, {}],
    ['an element that became a duplicate', { set: ['a'] }, { set: ['a', 'a'] }, shape, set('a'), set('a')],
    ['an element that was a duplicate', { set: ['a', 'a'] }, { set: ['a'] }, shape, set('a'), set('a')],
  ])('reports %s', (_what, from, to, of, written, removed) => {
    expect(compareFields(from, to, of)).toEqual({ written, removed });
  });

  function set(name: string): object {
    return { 'f:set': { [`v:"${name}"`]: {} } };
  }
});

describe('withoutParts', () => {
  it('reduces the fields of a value to the value itself if a schema change made it atomic', () => {
    const before = { 'f:whole': { 'f:a': {} }, 'f:plain': { '.': {}, 'v:"a"': {} }, 'f:bag': { 'f:a': {} } };
    expect(collapseAtomicFields(before, shape)).toEqual({ 'f:whole': {}, 'f:plain': {}, 'f:bag': { 'f:a': {} } });
  });
});

describe('shapeProblems', () => {
  it('finds no problems with the fields of a kind', () => {
    const pod = builtInShape('v1', 'Pod');
    const spec = { containers: [{ name: 'a', ports: [{ containerPort: 80 }], resources: { limits: { cpu: 1 } } }] };
    expect(pod && shapeProblems({ apiVersion: 'v1', kind: 'Pod', metadata: null, spec }, pod)).toEqual([]);
  });

  it('requires at least one key field in an element', () => {
    const keyed = (key: StructuralSchema): FieldShape =>
      customShape({
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['b', 'a'],
        items: { type: 'object', properties: { a: key, b: { type: 'string' }, c: { type: 'string' } } },
      });
    expect(shapeProblems([{ b: 'x' }, { c: 'x' }], keyed({ type: 'string' }))).toEqual([
      ': element 1: associative list with keys has an element that omits all key fields ["a" "b"] (and doesn\'t have default values for any key fields)',
    ]);
    expect(shapeProblems([{ b: 'x' }, { c: 'x' }], keyed({ type: 'string', default: 'y' }))).toEqual([]);
  });

  it('accepts any scalar as a time', () => {
    const times = customShape({
      type: 'object',
      properties: { since: { type: 'string', format: 'date-time' }, name: { type: 'string' } },
    });
    expect(shapeProblems({ since: 1, name: 1 }, times)).toEqual([
      '.name: expected string, got &value.valueUnstructured{Value:1}',
    ]);
    expect(shapeProblems({ since: { a: 1 } }, times)).toEqual(['.since: expected any scalar, got &{map[a:1]}']);
  });

  it('limits the number of problems', () => {
    const many = Array.from({ length: 200_000 }, () => 1);
    expect(shapeProblems({ plain: many, set: many }, shape)).toHaveLength(100);
  });
});
