import { type Schema, schemaFor } from '@bowline/kubernetes/schemas';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../json/json.ts';
import { strategicMerge } from './strategic-merge.ts';
import { StrategicMergeError } from './strategic-merge-error.ts';

function schemaOf(apiVersion: string, kind: string): Schema {
  const schema = schemaFor(apiVersion, kind);
  if (!schema) throw new TypeError(`there is no schema of ${kind}`);
  return schema;
}

const POD = schemaOf('v1', 'Pod');
const pod = (spec: JsonObject, metadata: JsonObject = {}): JsonObject => ({ kind: 'Pod', metadata, spec });
const merged = (document: JsonObject, patch: JsonObject): unknown => strategicMerge(document, patch, POD);

/** Returns a list of containers from texts of the form `name=image`. */
const containers = (...list: string[]): JsonObject[] =>
  list.map((each) => {
    const [name, image] = each.split('=');
    return image === undefined ? { name } : { name, image };
  });

describe('strategicMerge', () => {
  test.each<[string, JsonObject, JsonObject, JsonObject]>([
    [
      'merges maps and removes with null',
      { labels: { a: '1', b: '2' } },
      { labels: { a: null, c: '3' } },
      { labels: { b: '2', c: '3' } },
    ],
    [
      'replaces a map with $patch: replace',
      { labels: { a: '1' } },
      { labels: { $patch: 'replace', b: '2' } },
      { labels: { b: '2' } },
    ],
    [
      'empties a map with $patch: delete',
      { labels: { a: '1' } },
      { labels: { $patch: 'delete', b: '2' } },
      { labels: {} },
    ],
    [
      'retains only the keys in $retainKeys',
      { labels: { a: '1', b: '2' } },
      { labels: { $retainKeys: ['b', 'c'], c: '3' } },
      { labels: { b: '2', c: '3' } },
    ],
    ['drops nulls from a new map', {}, { labels: { a: null, b: '2' } }, { labels: { b: '2' } }],
    ['drops a new map that has a directive', {}, { labels: { $patch: 'replace', b: '2' }, name: 'x' }, { name: 'x' }],
    [
      'merges lists of scalars as sets, the patch first',
      { finalizers: ['a/a', 'a/b'] },
      { finalizers: ['a/c', 'a/a'] },
      { finalizers: ['a/c', 'a/a', 'a/b'] },
    ],
    [
      'deletes from a list of scalars',
      { finalizers: ['a/a', 'a/b'] },
      { '$deleteFromPrimitiveList/finalizers': ['a/a'], finalizers: ['a/c'] },
      { finalizers: ['a/c', 'a/b'] },
    ],
    [
      'orders a list of scalars',
      { finalizers: ['a/a', 'a/b'] },
      { '$setElementOrder/finalizers': ['a/b', 'a/c', 'a/a'], finalizers: ['a/c'] },
      { finalizers: ['a/b', 'a/c', 'a/a'] },
    ],
    [
      'keeps members with the names of inherited members',
      {},
      JSON.parse('{"labels":{"__proto__":"1","constructor":"2"}}'),
      JSON.parse('{"labels":{"__proto__":"1","constructor":"2"}}'),
    ],
  ])('%s', (_, metadata, patch, expected) => {
    expect(merged(pod({}, metadata), { metadata: patch })).toEqual(pod({}, expected));
  });

  test.each<[string, JsonObject, JsonObject[]]>([
    ['merges elements with the same key', { containers: containers('b=2') }, containers('a=1', 'b=2', 'c=1')],
    [
      'puts new elements first, and keeps the order of the existing ones',
      { containers: containers('x=1', 'c=2') },
      containers('x=1', 'a=1', 'b=1', 'c=2'),
    ],
    [
      'deletes elements',
      {
        containers: [
          { name: 'b', $patch: 'delete' },
          { name: 'z', $patch: 'delete' },
        ],
      },
      containers('a=1', 'c=1'),
    ],
    [
      'replaces the list with $patch: replace',
      { containers: [...containers('x=1'), { $patch: 'replace' }] },
      containers('x=1'),
    ],
    [
      'orders the elements in $setElementOrder and keeps the relative position of the others',
      { '$setElementOrder/containers': containers('c', 'a') },
      containers('b=1', 'c=1', 'a=1'),
    ],
    [
      'orders and merges at once',
      { '$setElementOrder/containers': containers('x', 'b', 'a'), containers: containers('x=1', 'b=2') },
      containers('x=1', 'b=2', 'a=1', 'c=1'),
    ],
    [
      'lets a later element of the patch change an earlier one',
      { containers: containers('x=1', 'x=2') },
      containers('x=2', 'a=1', 'b=1', 'c=1'),
    ],
    ['changes nothing with an empty list', { containers: [] }, containers('a=1', 'b=1', 'c=1')],
  ])('%s', (_, patch, expected) => {
    const before = pod({ containers: containers('a=1', 'b=1', 'c=1') });
    const copy = structuredClone(before);
    expect(merged(before, { spec: patch })).toEqual(pod({ containers: expected }));
    expect(before).toEqual(copy);
  });

  test('lets new elements take the slots of deleted ones, as the API server’s in-place deletion does', () => {
    const before = pod({ containers: containers('a=1', 'b=1', 'c=1') });
    const order = { '$setElementOrder/containers': containers('a', 'x') };
    const change = [{ name: 'c', $patch: 'delete' }, ...containers('a=1', 'x=1')];
    expect(merged(before, { spec: { ...order, containers: change } })).toEqual(
      pod({ containers: containers('a=1', 'b=1', 'x=1') }),
    );
  });

  test('merges long lists in one pass over each', () => {
    const many = (from: number): JsonObject[] =>
      Array.from({ length: 4_000 }, (_, index) => ({ name: `c${from + index}` }));
    const deletions = many(2_000).map((element) => ({ ...element, $patch: 'delete' }));
    const change = {
      spec: { '$setElementOrder/containers': many(6_000), containers: [...deletions, ...many(6_000)] },
    };
    const { spec } = merged(pod({ containers: many(0) }), change) as { spec: { containers: JsonObject[] } };
    expect(spec.containers).toHaveLength(6_000);
  });

  test('replaces lists and maps that have no other strategy', () => {
    const before = pod({ tolerations: [{ key: 'a' }], containers: [{ name: 'a', args: ['1', '2'] }] });
    const patch = { spec: { tolerations: [{ key: 'b' }], containers: [{ name: 'a', args: ['3'] }] } };
    expect(merged(before, patch)).toEqual({ kind: 'Pod', metadata: {}, ...patch });
    const budget = { spec: { selector: { matchLabels: { a: '1' } } } };
    const change = { spec: { selector: { matchLabels: { b: '2' } } } };
    expect(strategicMerge(budget, change, schemaOf('policy/v1', 'PodDisruptionBudget'))).toEqual(change);
  });

  test.each<[string, JsonObject, string, string]>([
    [
      'an unknown directive',
      { metadata: { $patch: 'merge', a: 1 } },
      'FAILED',
      'unknown patch type: merge in map: map[$patch:merge a:1]',
    ],
    [
      'a directive that is not a string',
      { $patch: 3 },
      'FAILED',
      'unknown patch type: %!s(int64=3) in map: map[$patch:3]',
    ],
    [
      'merge as an element’s directive',
      { spec: { containers: [{ name: 'a', $patch: 'merge' }] } },
      'FAILED',
      'merging lists cannot yet be specified in the patch',
    ],
    [
      'an element without its key',
      { spec: { containers: [{ image: 'x' }] } },
      'FAILED',
      'map: map[image:x] does not contain declared merge key: name',
    ],
    [
      'elements of another type',
      { spec: { containers: ['x'] } },
      'FAILED',
      'list element types are not identical: [[map[name:a]] [x]]',
    ],
    [
      'an order that the patch itself breaks',
      { spec: { '$setElementOrder/containers': [{ name: 'b' }], containers: [{ name: 'a' }] } },
      'FAILED',
      "The order in patch list:\n[map[name:a]]\n doesn't match $setElementOrder list:\n[map[name:b]]\n",
    ],
    [
      'an order that is not a list',
      { spec: { '$setElementOrder/dnsPolicy': [] } },
      'FAILED',
      'expected a []interface {}, but received a string',
    ],
    [
      'an order of a field that does not exist',
      { spec: { '$setElementOrder/nope': [] } },
      'FAILED',
      'unable to find api field in struct PodSpec for the json field "nope"',
    ],
    [
      'an order without a field',
      { spec: { $setElementOrder: [] } },
      'INVALID',
      'invalid patch format of setElementOrder list',
    ],
    [
      'a deletion without a field',
      { spec: { $deleteFromPrimitiveList: [] } },
      'INVALID',
      'invalid patch format of primitive list',
    ],
    [
      'keys to retain that omit a key of the patch',
      { spec: { $retainKeys: [], hostname: 'x' } },
      'INVALID',
      'invalid patch format of retainKeys',
    ],
    [
      'keys to retain that are not a list',
      { spec: { $retainKeys: 'x' } },
      'INVALID',
      'invalid patch format of retainKeys',
    ],
    [
      'a key that is not a scalar',
      { spec: { containers: [{ name: {} }] } },
      'FAILED',
      'the merge key name of map[name:map[]] is not a scalar',
    ],
  ])('rejects %s with the error of the API server', (_, patch, code, detail) => {
    const before = pod({ dnsPolicy: 'Default', containers: [{ name: 'a' }] });
    const error = new StrategicMergeError(`BOWLINE_PATCH_${code as 'FAILED'}`, detail);
    expect(() => merged(before, patch)).toThrow(error);
    expect(() => merged(before, patch)).toThrow(expect.objectContaining({ detail, code: error.code }));
  });
});
