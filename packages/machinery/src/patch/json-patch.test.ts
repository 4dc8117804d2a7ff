import fc from 'fast-check';
import { applyPatch } from 'rfc6902';
import { describe, expect, it } from 'vitest';
import { applyJsonPatch, diffJsonPatch, formatPointer, type JsonPatchOperation, parsePointer } from './json-patch.ts';

const key = fc.constantFrom('a', 'b', 'c/d', 'e~f', '0', '', 'constructor', 'toString', '__proto__');
// Created by JSON.parse, like documents from the wire: `__proto__` is an ordinary member there.
const json: fc.Arbitrary<unknown> = fc
  .letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom(null, 0, 1, '', 'x', true),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map((members) => Object.fromEntries(members)),
    ),
  }))
  .value.map((value): unknown => JSON.parse(JSON.stringify(value)));

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) deepFreeze(item);
  return Object.freeze(value);
}

describe('applyJsonPatch', () => {
  it('treats a missing member as null, as the API server does', () => {
    const patch = [
      { op: 'test', path: '/a', value: null },
      { op: 'replace', path: '/a', value: 1 },
    ] as const;
    expect(applyJsonPatch({}, patch)).toEqual({ a: 1 });
    expect(() => applyJsonPatch([], [{ op: 'test', path: '/0', value: null }])).toThrow('index 0 does not exist');
  });

  it.each<[string, unknown, JsonPatchOperation[], unknown]>([
    ['adds a member', { a: 1 }, [{ op: 'add', path: '/b', value: 2 }], { a: 1, b: 2 }],
    ['overwrites a member with add', { a: 1 }, [{ op: 'add', path: '/a', value: 2 }], { a: 2 }],
    ['inserts into a list', [1, 3], [{ op: 'add', path: '/1', value: 2 }], [1, 2, 3]],
    ['appends by index', [1], [{ op: 'add', path: '/1', value: 2 }], [1, 2]],
    ['appends by dash', { a: [1] }, [{ op: 'add', path: '/a/-', value: 2 }], { a: [1, 2] }],
    ['adds null', {}, [{ op: 'add', path: '/a', value: null }], { a: null }],
    ['removes a member', { a: 1, b: 2 }, [{ op: 'remove', path: '/a' }], { b: 2 }],
    ['removes a null', { a: null }, [{ op: 'remove', path: '/a' }], {}],
    ['removes from a list', [1, 2, 3], [{ op: 'remove', path: '/1' }], [1, 3]],
    ['replaces', { a: { b: [0, 1] } }, [{ op: 'replace', path: '/a/b/1', value: 2 }], { a: { b: [0, 2] } }],
    ['replaces the document', { a: 1 }, [{ op: 'replace', path: '', value: [1] }], [1]],
    ['moves', { a: { x: 1 }, b: {} }, [{ op: 'move', from: '/a/x', path: '/b/y' }], { a: {}, b: { y: 1 } }],
    ['moves within a list', [1, 2, 3], [{ op: 'move', from: '/0', path: '/2' }], [2, 3, 1]],
    ['moves a value onto itself', { a: 1 }, [{ op: 'move', from: '/a', path: '/a' }], { a: 1 }],
    ['copies a missing member as null', { a: {} }, [{ op: 'copy', from: '/a/x', path: '/b' }], { a: {}, b: null }],
    ['copies', { a: { x: 1 } }, [{ op: 'copy', from: '/a', path: '/b' }], { a: { x: 1 }, b: { x: 1 } }],
    [
      'tests regardless of the order of members',
      { a: { x: 1, y: [null] } },
      [{ op: 'test', path: '/a', value: { y: [null], x: 1 } }],
      { a: { x: 1, y: [null] } },
    ],
    ['decodes escapes', { 'a/b': { '~1': 1 } }, [{ op: 'remove', path: '/a~1b/~01' }], { 'a/b': {} }],
    ['accepts an empty key', { '': 1 }, [{ op: 'replace', path: '/', value: 2 }], { '': 2 }],
    ['does nothing for no operations', { a: 1 }, [], { a: 1 }],
  ])('%s', (_, document, patch, expected) => {
    expect(applyJsonPatch(deepFreeze(document), deepFreeze(patch))).toEqual(expected);
  });

  it.each<[string, unknown, JsonPatchOperation[], string]>([
    [
      'a missing parent',
      {},
      [{ op: 'add', path: '/a/b', value: 1 }],
      'operation 0 (add "/a/b") does not apply: "a" does not exist',
    ],
    [
      'a missing member',
      { a: 1 },
      [
        { op: 'test', path: '/a', value: 1 },
        { op: 'remove', path: '/b' },
      ],
      'operation 1 (remove "/b") does not apply: "b" does not exist',
    ],
    [
      'replacing an element that does not exist',
      [],
      [{ op: 'replace', path: '/0', value: 1 }],
      'operation 0 (replace "/0") does not apply: index 0 does not exist',
    ],
    [
      'an index beyond the end',
      [1],
      [{ op: 'add', path: '/2', value: 1 }],
      'operation 0 (add "/2") does not apply: index 2 does not exist',
    ],
    [
      'an index with a leading zero',
      [1, 2],
      [{ op: 'remove', path: '/01' }],
      'operation 0 (remove "/01") does not apply: "01" is not an array index',
    ],
    [
      'a negative index',
      [1],
      [{ op: 'remove', path: '/-1' }],
      'operation 0 (remove "/-1") does not apply: "-1" is not an array index',
    ],
    [
      'removing after the last',
      [1],
      [{ op: 'remove', path: '/-' }],
      'operation 0 (remove "/-") does not apply: "-" is not an array index',
    ],
    [
      'a member of a scalar',
      { a: 'x' },
      [{ op: 'add', path: '/a/length', value: 1 }],
      'operation 0 (add "/a/length") does not apply: its parent is neither an object nor an array',
    ],
    [
      'a test that fails',
      { a: 1 },
      [{ op: 'test', path: '/a', value: '1' }],
      'operation 0 (test "/a") does not apply: the current value is different',
    ],
    [
      'a move into itself',
      { a: { b: 1 } },
      [{ op: 'move', from: '/a', path: '/a/b' }],
      'operation 0 (move "/a/b") does not apply: a value cannot move into itself',
    ],
    [
      'removing the document',
      {},
      [{ op: 'remove', path: '' }],
      'operation 0 (remove "") does not apply: the document itself has no parent',
    ],
    [
      'an inherited member',
      {},
      [{ op: 'remove', path: '/toString' }],
      'operation 0 (remove "/toString") does not apply: "toString" does not exist',
    ],
    [
      'a path through the prototype',
      {},
      [{ op: 'add', path: '/__proto__/polluted', value: 1 }],
      'operation 0 (add "/__proto__/polluted") does not apply: "__proto__" does not exist',
    ],
    [
      'a path through the constructor',
      {},
      [{ op: 'add', path: '/constructor/prototype/polluted', value: 1 }],
      'operation 0 (add "/constructor/prototype/polluted") does not apply: "constructor" does not exist',
    ],
  ])('rejects %s and names the operation', (_, document, patch, message) => {
    expect(() => applyJsonPatch(document, patch)).toThrow(
      expect.objectContaining({ code: 'BOWLINE_PATCH_FAILED', message }),
    );
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it.each<[string, unknown, RegExp]>([
    ['an object', {}, /not an array/],
    ['a scalar operation', ['x'], /operation 0 is not an object/],
    ['an unknown operation', [{ op: 'spam', path: '/a' }], /operation 0 has an unknown "op"/],
    ['a path that is not a pointer', [{ op: 'remove', path: 'a' }], /operation 0 has a "path" that is not/],
    ['a missing path', [{ op: 'remove' }], /operation 0 has a "path" that is not/],
    ['a bad escape', [{ op: 'remove', path: '/~2' }], /operation 0 has a "path" that is not/],
    ['a missing from', [{ op: 'copy', path: '/a' }], /operation 0 has a "from" that is not/],
    ['a missing value', [{ op: 'add', path: '/a' }], /operation 0 \(add\) has no "value"/],
    [
      'more operations than the API server accepts',
      new Array(10_001).fill({ op: 'test', path: '', value: {} }),
      /10001 operations/,
    ],
  ])('rejects %s as malformed', (_, patch, message) => {
    expect(() => applyJsonPatch({}, patch as JsonPatchOperation[])).toThrow(
      expect.objectContaining({ code: 'BOWLINE_PATCH_INVALID', message: expect.stringMatching(message) }),
    );
  });

  it('treats __proto__ as a name like any other and never as a prototype', () => {
    const result = applyJsonPatch({ data: {} }, [{ op: 'add', path: '/data/__proto__', value: { x: 1 } }]);
    expect(JSON.stringify(result)).toBe('{"data":{"__proto__":{"x":1}}}');
    expect((result as { data: { x?: unknown } }).data.x).toBeUndefined();
    const brought: unknown = JSON.parse('[{"op":"add","path":"/a","value":{"__proto__":{"x":1}}}]');
    expect(JSON.stringify(applyJsonPatch({}, brought as JsonPatchOperation[]))).toBe('{"a":{"__proto__":{"x":1}}}');
  });

  it('shares unchanged parts with the document and none with the patch', () => {
    const document = { kept: { x: 1 }, changed: { y: 1 } };
    const value = { z: 1 };
    const result = applyJsonPatch(document, [{ op: 'add', path: '/changed/new', value }]) as typeof document;
    value.z = 2;
    expect(result.kept).toBe(document.kept);
    expect(result).toEqual({ kept: { x: 1 }, changed: { y: 1, new: { z: 1 } } });
    expect(document).toEqual({ kept: { x: 1 }, changed: { y: 1 } });
  });

  it('stops copies of copies before they exhaust memory', () => {
    const patch = Array.from(
      { length: 64 },
      (_, index): JsonPatchOperation => ({ op: 'copy', from: '', path: `/${index}` }),
    );
    expect(() => applyJsonPatch({}, patch)).toThrow(
      expect.objectContaining({ code: 'BOWLINE_PATCH_FAILED', message: expect.stringMatching(/copies more than/) }),
    );
  });
});

describe('diffJsonPatch', () => {
  it('returns operations that turn any document into any other', () => {
    fc.assert(
      fc.property(json, json, (from, to) => {
        const patch = diffJsonPatch(deepFreeze(from), deepFreeze(to));
        expect(JSON.parse(JSON.stringify(applyJsonPatch(from, patch)))).toEqual(to);
      }),
      { numRuns: 500 },
    );
  });

  it('returns operations that another implementation applies with the same result', () => {
    const plain = json.filter((value) => !/__proto__|constructor|toString/.test(JSON.stringify(value)));
    fc.assert(
      fc.property(plain, plain, (from, to) => {
        const holder = { document: from };
        const patch = diffJsonPatch(holder, { document: to });
        const other: unknown = JSON.parse(JSON.stringify(holder));
        expect(applyPatch(other, patch).every((problem) => problem === null)).toBe(true);
        expect(applyJsonPatch(holder, patch)).toEqual(other);
      }),
    );
  });

  it('returns few operations, and none for the same JSON', () => {
    expect(diffJsonPatch({ a: [1, 2, 3], b: undefined }, { a: [1, 3] })).toEqual([{ op: 'remove', path: '/a/1' }]);
    expect(diffJsonPatch({ a: { b: 1 }, c: undefined }, { a: { b: 1 } })).toEqual([]);
    expect(diffJsonPatch({ 'a/b': 1 }, { 'a/b': 2 })).toEqual([{ op: 'replace', path: '/a~1b', value: 2 }]);
  });

  it('replaces long lists as a whole, and returns nothing for equal ones', () => {
    const long = Array.from({ length: 5000 }, (_, index) => ({ index }));
    const changed = long.with(7, { index: -1 });
    expect(diffJsonPatch({ long }, { long: changed })).toEqual([{ op: 'replace', path: '/long', value: changed }]);
    expect(diffJsonPatch({ long }, { long: structuredClone(long) })).toEqual([]);
  });
});

describe('JSON pointers', () => {
  it('round-trip for any tokens', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: fc.constantFrom('a', '/', '~', '0', '1') })), (tokens) => {
        expect(parsePointer(formatPointer(tokens))).toEqual(tokens);
      }),
    );
  });

  it('start with a slash or are empty', () => {
    expect(parsePointer('')).toEqual([]);
    expect(parsePointer('/')).toEqual(['']);
    expect(parsePointer('a')).toBeUndefined();
    expect(parsePointer('/a~')).toBeUndefined();
  });
});
