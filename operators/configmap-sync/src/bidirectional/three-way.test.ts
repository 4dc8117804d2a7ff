import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Content } from '../content/content.ts';
import { contentHash, keyHashes } from '../content/content-hash.ts';
import { type ThreeWayOptions, threeWay } from './three-way.ts';

const content = (data: Record<string, string>): Content => ({ data, binaryData: {} });

type Sides = readonly [
  base: Record<string, string>,
  source: Record<string, string>,
  destination: Record<string, string>,
];

function merge([base, source, destination]: Sides, options: Partial<ThreeWayOptions> = {}) {
  return threeWay({
    base: keyHashes(content(base)),
    source: content(source),
    destination: content(destination),
    policy: 'Manual',
    newer: 'source',
    ...options,
  });
}

describe('threeWay', () => {
  test.each<[string, Sides, Record<string, string>, { source: boolean; destination: boolean }]>([
    ['nothing', [{ a: '1' }, { a: '1' }, { a: '1' }], { a: '1' }, { source: false, destination: false }],
    ['an edit of the source', [{ a: '1' }, { a: '2' }, { a: '1' }], { a: '2' }, { source: false, destination: true }],
    ['an edit of the copy', [{ a: '1' }, { a: '1' }, { a: '2' }], { a: '2' }, { source: true, destination: false }],
    [
      'edits of different keys',
      [
        { a: '1', b: '1' },
        { a: '2', b: '1' },
        { a: '1', b: '3' },
      ],
      { a: '2', b: '3' },
      { source: true, destination: true },
    ],
    ['the same edit twice', [{ a: '1' }, { a: '2' }, { a: '2' }], { a: '2' }, { source: false, destination: false }],
    ['a key added to the source', [{}, { a: '1' }, {}], { a: '1' }, { source: false, destination: true }],
    ['a key added to the copy', [{}, {}, { a: '1' }], { a: '1' }, { source: true, destination: false }],
    ['a key removed from the source', [{ a: '1' }, {}, { a: '1' }], {}, { source: false, destination: true }],
    ['a key removed from the copy', [{ a: '1' }, { a: '1' }, {}], {}, { source: true, destination: false }],
    ['a key removed from both', [{ a: '1' }, {}, {}], {}, { source: false, destination: false }],
    ['all keys of a new copy', [{}, { a: '1', b: '2' }, {}], { a: '1', b: '2' }, { source: false, destination: true }],
  ])('merges %s', (_, sides, merged, writes) => {
    const result = merge(sides);
    expect(result.merged.data).toEqual(merged);
    expect(result.source).toEqual(result.merged);
    expect(result.destination).toEqual(result.merged);
    expect(result.conflicts).toEqual([]);
    expect({ source: result.writeSource, destination: result.writeDestination }).toEqual(writes);
    expect(result.base).toEqual(keyHashes(result.merged));
  });

  const edits: Sides = [
    { a: '1', b: '1' },
    { a: '2', b: '2' },
    { a: '3', b: '1' },
  ];
  const removedByUs: Sides = [{ a: '1' }, {}, { a: '3' }];
  const removedByThem: Sides = [{ a: '1' }, { a: '2' }, {}];
  test.each<[Sides, Partial<ThreeWayOptions>, Record<string, string>]>([
    [edits, { policy: 'SourceWins' }, { a: '2', b: '2' }],
    [edits, { policy: 'Merge' }, { a: '2', b: '2' }],
    [edits, { policy: 'NewestWins', newer: 'source' }, { a: '2', b: '2' }],
    [edits, { policy: 'NewestWins', newer: 'destination' }, { a: '3', b: '2' }],
    [edits, { policy: 'Manual', resolve: 'Source' }, { a: '2', b: '2' }],
    [edits, { policy: 'Manual', resolve: 'Destination' }, { a: '3', b: '2' }],
    [edits, { policy: 'SkipIfModified', resolve: 'Destination' }, { a: '3', b: '2' }],
    [removedByUs, { policy: 'SourceWins' }, {}],
    [removedByUs, { policy: 'Merge' }, { a: '3' }],
    [removedByUs, { policy: 'NewestWins', newer: 'destination' }, { a: '3' }],
    [removedByThem, { policy: 'SourceWins' }, { a: '2' }],
    [removedByThem, { policy: 'Merge' }, { a: '2' }],
    [removedByThem, { policy: 'NewestWins', newer: 'destination' }, {}],
  ])('resolves a conflict of %j with %j', (sides, options, merged) => {
    const result = merge(sides, options);
    expect(result.merged.data).toEqual(merged);
    expect(result.conflicts).toEqual([]);
  });

  test.each(['Manual', 'SkipIfModified'] as const)('keeps a conflicting key on both sides with %s', (policy) => {
    const result = merge(edits, { policy });
    expect(result.conflicts).toEqual(['a']);
    expect(result.merged.data).toEqual({ b: '2' });
    expect(result.source.data).toEqual({ a: '2', b: '2' });
    expect(result.destination.data).toEqual({ a: '3', b: '2' });
    expect([result.writeSource, result.writeDestination]).toEqual([false, true]);
    expect(result.base).toEqual(keyHashes(content({ a: '1', b: '2' })));
  });

  test('treats a key that became binary as changed', () => {
    const result = threeWay({
      base: keyHashes(content({ a: 'x' })),
      source: content({ a: 'x' }),
      destination: { data: {}, binaryData: { a: 'eA==' } },
      policy: 'Manual',
      newer: 'source',
    });
    expect(result.merged).toEqual({ data: {}, binaryData: { a: 'eA==' } });
    expect(result.writeSource).toBe(true);
  });

  const side = fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__'), fc.constantFrom('1', '2', '3'));
  const policies = fc.constantFrom('SourceWins', 'SkipIfModified', 'Merge', 'NewestWins', 'Manual' as const);
  const newer = fc.constantFrom('source', 'destination' as const);
  const value = (of: Content, key: string): string | undefined =>
    Object.hasOwn(of.data, key) ? of.data[key] : undefined;

  test('keeps every edit of a single side, and at least one of two conflicting edits', () => {
    fc.assert(
      fc.property(side, side, side, policies, newer, (base, source, destination, policy, last) => {
        const given = [content(base), content(source), content(destination)] as const;
        const result = merge([base, source, destination], { policy, newer: last });
        for (const key of ['a', 'b', 'c', '__proto__']) {
          const [before, ours, theirs] = given.map((each) => value(each, key));
          const pair = [value(result.source, key), value(result.destination, key)];
          if (theirs === before) expect(pair).toEqual([ours, ours]);
          else if (ours === before) expect(pair).toEqual([theirs, theirs]);
          else if (result.conflicts.includes(key)) expect(pair).toEqual([ours, theirs]);
          else
            expect([
              [ours, ours],
              [theirs, theirs],
            ]).toContainEqual(pair);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('changes nothing when it is applied again', () => {
    fc.assert(
      fc.property(side, side, side, policies, newer, (base, source, destination, policy, last) => {
        const first = merge([base, source, destination], { policy, newer: last });
        const again = threeWay({
          base: first.base,
          source: first.source,
          destination: first.destination,
          policy,
          newer: last,
        });
        expect([again.writeSource, again.writeDestination]).toEqual([false, false]);
        expect(again.conflicts).toEqual(first.conflicts);
        expect(again.base).toEqual(first.base);
        expect(contentHash(again.source)).toBe(contentHash(first.source));
      }),
      { numRuns: 500 },
    );
  });
});
