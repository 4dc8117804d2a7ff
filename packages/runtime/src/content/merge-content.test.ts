import { describe, expect, it } from 'vitest';
import { losesContent } from './content.ts';
import { changedContent } from './content-bodies.ts';
import { mergeContent } from './merge-content.ts';

type Maps = { readonly data?: Record<string, string>; readonly binaryData?: Record<string, string> };
const content = ({ data = {}, binaryData = {} }: Maps) => ({ data, binaryData });

describe('mergeContent', () => {
  it.each<[what: string, stored: Maps, desired: Maps, ours: string[], merged: Maps, conflicts: string[]]>([
    [
      'adds keys next to those of other clients',
      { data: { theirs: '1' } },
      { data: { a: '1' } },
      [],
      { data: { theirs: '1', a: '1' } },
      [],
    ],
    ['changes its own keys', { data: { a: '1' } }, { data: { a: '2' } }, ['a'], { data: { a: '2' } }, []],
    ['removes its own keys', { data: { a: '1', theirs: '1' } }, {}, ['a'], { data: { theirs: '1' } }, []],
    [
      'keeps a key of another client with a different value',
      { data: { a: 'theirs' } },
      { data: { a: '1' } },
      [],
      { data: { a: 'theirs' } },
      ['a'],
    ],
    [
      'shares a key of another client with the same value',
      { data: { a: '1' } },
      { data: { a: '1' } },
      [],
      { data: { a: '1' } },
      [],
    ],
    [
      'moves its own key to the other map',
      { data: { a: '1' } },
      { binaryData: { a: 'MQ==' } },
      ['a'],
      { binaryData: { a: 'MQ==' } },
      [],
    ],
    [
      'accepts every valid key',
      { data: JSON.parse('{"__proto__":"1"}') as Record<string, string> },
      { data: { a: '1' } },
      [],
      { data: JSON.parse('{"__proto__":"1","a":"1"}') as Record<string, string> },
      [],
    ],
  ])('%s', (_, stored, desired, ours, merged, conflicts) => {
    const result = mergeContent(content(stored), content(desired), { ours: new Set(ours), wins: false });
    expect(result.content).toEqual(content(merged));
    expect(result.conflicts).toEqual(conflicts);
  });

  it('replaces keys of other clients with wins: true', () => {
    const stored = content({ data: { a: 'theirs', b: 'theirs' } });
    const { content: merged, conflicts } = mergeContent(stored, content({ data: { a: '1' } }), {
      ours: new Set(),
      wins: true,
    });
    expect([merged.data, conflicts]).toEqual([{ a: '1', b: 'theirs' }, []]);
    expect([losesContent(stored, merged), losesContent(merged, stored), losesContent(merged, merged)]).toEqual([
      true,
      true,
      false,
    ]);
  });
});

describe('changedContent', () => {
  it('returns only the keys that differ', () => {
    const before = content({ data: { same: '1', changed: '1', gone: '1' }, binaryData: { blob: 'AA==' } });
    const after = content({ data: { same: '1', changed: '2', blob: 'text' } });
    expect(changedContent(before, after)).toEqual({
      data: { gone: null, changed: '2', blob: 'text' },
      binaryData: { blob: null },
    });
    expect(changedContent(after, after)).toEqual({});
  });
});
