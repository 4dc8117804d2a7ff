import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Content, contentFrom, contentOf, entriesOf } from './content.ts';
import { contentHash, keyHashes } from './content-hash.ts';
import { contentSize } from './content-size.ts';
import { filterKeys } from './key-filter.ts';

const content = (data: Record<string, string>, binaryData: Record<string, string> = {}): Content => ({
  data,
  binaryData,
});

describe('contentHash', () => {
  test('is the same for empty and absent maps', () => {
    const empty = contentHash(contentOf({}));
    expect(empty).toMatch(/^[0-9a-f]{64}$/);
    expect(contentHash(contentOf({ data: {}, binaryData: {} }))).toBe(empty);
    expect(contentHash(contentOf({ data: undefined, binaryData: {} }))).toBe(empty);
  });

  test('does not depend on the order of keys', () => {
    expect(contentHash(content({ a: '1', b: '2' }))).toBe(contentHash(content({ b: '2', a: '1' })));
  });

  test.each<[string, Content, Content]>([
    ['values', content({ a: '1' }), content({ a: '2' })],
    ['keys', content({ a: '1' }), content({ b: '1' })],
    ['an empty value and no key', content({ a: '' }), content({})],
    ['text and the same bytes as a binary value', content({ a: 'x' }), content({}, { a: 'eA==' })],
    ['two keys and one key whose value contains both', content({ a: '1', b: '2' }), content({ a: '1db\x001\x002' })],
  ])('distinguishes %s', (_, one, other) => {
    expect(contentHash(one)).not.toBe(contentHash(other));
  });

  test('does not change: it is stored on copies in clusters', () => {
    expect(contentHash(content({ 'app.yaml': 'a: ü\n' }, { logo: 'AAEC' }))).toMatchInlineSnapshot(
      `"66b7286844d1726a1540fd6dd460e10fbaf1bf20a08add4c62135223fd15ff2e"`,
    );
    expect(keyHashes(content({ a: '1' }, { b: 'AAEC' }))).toMatchInlineSnapshot(`
      {
        "b/b": "ae4b3280e56e2faf",
        "d/a": "6b86b273ff34fce1",
      }
    `);
  });
});

describe('content', () => {
  test('keeps keys that are special names in JavaScript', () => {
    const stored = JSON.parse('{"__proto__":"a","constructor":"b"}') as Record<string, string>;
    const kept = contentFrom(entriesOf(content(stored)));
    expect(Object.entries(kept.data)).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ]);
    expect(Object.keys(keyHashes(kept))).toEqual(['d/__proto__', 'd/constructor']);
  });

  test('survives the conversion to entries and back', () => {
    const map = fc.dictionary(fc.stringMatching(/^[a-m]{1,3}$/), fc.string({ unit: 'grapheme' }));
    const binary = fc.dictionary(fc.stringMatching(/^[n-z]{1,3}$/), fc.base64String());
    fc.assert(
      fc.property(map, binary, (data, binaryData) => {
        const given = { data: { ...data }, binaryData: { ...binaryData } };
        const back = contentFrom(entriesOf(given));
        expect(back).toEqual(given);
        expect(contentHash(back)).toBe(contentHash(given));
      }),
      { numRuns: 100 },
    );
  });
});

describe('contentSize', () => {
  test.each<[string, Content, number]>([
    ['nothing', content({}), 0],
    ['the bytes of text, not its characters', content({ a: 'ü𝒳' }), 6],
    ['values and not keys', content({ 'a-long-key': '1' }), 1],
    ['decoded binary values', content({}, { a: 'AAEC', b: 'AA==', c: 'AAE=', d: '' }), 3 + 1 + 2],
  ])('counts %s', (_, given, size) => {
    expect(contentSize(given)).toBe(size);
  });
});

describe('filterKeys', () => {
  const source = content({ 'app.yaml': '1', 'db.yaml': '2', notes: '3' }, { 'logo.png': 'AA==' });
  test.each<[object | undefined, string[]]>([
    [undefined, ['app.yaml', 'db.yaml', 'notes', 'logo.png']],
    [{}, ['app.yaml', 'db.yaml', 'notes', 'logo.png']],
    [{ include: [] }, ['app.yaml', 'db.yaml', 'notes', 'logo.png']],
    [{ include: ['*.yaml'] }, ['app.yaml', 'db.yaml']],
    [{ include: ['*.yaml', 'logo.*'], exclude: ['db.*'] }, ['app.yaml', 'logo.png']],
    [{ exclude: ['*'] }, []],
    [{ include: ['notes'] }, ['notes']],
    [{ include: ['n.tes'] }, []],
  ])('with %j keeps %j', (keys, left) => {
    expect([...entriesOf(filterKeys(source, keys)).keys()]).toEqual(left);
  });
});
