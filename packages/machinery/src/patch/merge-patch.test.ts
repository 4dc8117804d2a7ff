import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyMergePatch, diffMergePatch } from './merge-patch.ts';

describe('applyMergePatch', () => {
  // The examples of RFC 7386, appendix A.
  it.each([
    ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
    ['{"a":"b"}', '{"a":null}', '{}'],
    ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
    ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
    ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
    ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
    ['["a","b"]', '["c","d"]', '["c","d"]'],
    ['{"a":"b"}', '["c"]', '["c"]'],
    ['{"a":"foo"}', 'null', 'null'],
    ['{"a":"foo"}', '"bar"', '"bar"'],
    ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
    ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
    ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
  ])('of %s with %s is %s', (document, patch, expected) => {
    expect(JSON.stringify(applyMergePatch(JSON.parse(document), JSON.parse(patch)))).toBe(expected);
  });

  it('does not modify its input and shares unchanged parts with it', () => {
    const document = Object.freeze({ kept: Object.freeze({ x: 1 }), gone: 1 });
    const result = applyMergePatch(document, { gone: null }) as { kept: unknown };
    expect(result).toEqual({ kept: { x: 1 } });
    expect(result.kept).toBe(document.kept);
    expect(applyMergePatch(document, { absent: null })).toBe(document);
  });

  it('treats __proto__ and inherited names as data', () => {
    const patch: unknown = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"x":1}}');
    const result = applyMergePatch({}, patch);
    expect(JSON.stringify(result)).toBe('{"__proto__":{"polluted":1},"constructor":{"x":1}}');
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(JSON.stringify(applyMergePatch(result, JSON.parse('{"__proto__":null}')))).toBe('{"constructor":{"x":1}}');
  });

  it('ignores undefined members of the patch', () => {
    expect(applyMergePatch({ a: 1 }, { a: undefined, b: 2 })).toEqual({ a: 1, b: 2 });
  });
});

describe('diffMergePatch', () => {
  it.each<[unknown, unknown, unknown]>([
    [{ a: 1, b: 2 }, { b: 3 }, { a: null, b: 3 }],
    [{ a: { b: 1, c: [1] } }, { a: { b: 1, c: [2] } }, { a: { c: [2] } }],
    [{ a: [1] }, { a: { b: 1 } }, { a: { b: 1 } }],
    [{ a: 1 }, { a: 1 }, undefined],
    [{ a: 1, b: undefined }, { a: 1 }, undefined],
    [{ a: 1 }, { a: undefined }, { a: null }],
    [{ a: { b: 1 } }, { a: {} }, { a: { b: null } }],
    [{}, { a: {} }, { a: {} }],
    [1, 1, undefined],
    [1, { a: 1 }, { a: 1 }],
  ])('from %j to %j is %j', (from, to, expected) => {
    expect(diffMergePatch(from, to)).toEqual(expected);
  });

  it('treats a null in the target as absent, because a merge patch cannot set one', () => {
    expect(diffMergePatch({ a: 1 }, { a: null })).toEqual({ a: null });
    expect(diffMergePatch({}, { a: null, b: { c: null, d: 1 } })).toEqual({ b: { d: 1 } });
    expect(diffMergePatch({}, { a: null })).toBeUndefined();
  });

  it('turns any document into any other, if both have no null members', () => {
    const key = fc.constantFrom('a', 'b', 'c', 'constructor', '__proto__');
    const value: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom(0, 1, '', 'x', true),
        fc.array(fc.constantFrom(null, 1, 2), { maxLength: 3 }),
        fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map((members) => Object.fromEntries(members)),
      ),
    })).value;
    const object = fc.array(fc.tuple(key, value), { maxLength: 4 }).map((members) => Object.fromEntries(members));
    fc.assert(
      fc.property(object, object, (from, to) => {
        const patch = diffMergePatch(from, to);
        expect(patch === undefined ? from : applyMergePatch(from, patch)).toEqual(to);
      }),
      { numRuns: 500 },
    );
  });
});
