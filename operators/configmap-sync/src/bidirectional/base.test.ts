import { describe, expect, it } from 'vitest';
import { ANNOTATIONS } from '../api/names.ts';
import { contentOf } from '../content/content.ts';
import { contentHash, keyHashes } from '../content/content-hash.ts';
import { baseOf, formatBase } from './base.ts';

const data = { color: 'red' };
const hashes = keyHashes(contentOf({ data }));
const copy = (annotations: Record<string, string>) => ({ metadata: { annotations }, data });

describe('baseOf', () => {
  it.each([
    ['what the copy remembers', { [ANNOTATIONS.base]: '{"d/size":"1234"}' }, { 'd/size': '1234' }],
    [
      'the copy itself, synced one way and not edited since',
      { [ANNOTATIONS.appliedHash]: contentHash(contentOf({ data })) },
      hashes,
    ],
    ['nothing, for a copy that was edited', { [ANNOTATIONS.appliedHash]: 'other' }, undefined],
    ['nothing, for an object that was never synced', {}, undefined],
    ['nothing, when somebody damaged it', { [ANNOTATIONS.base]: '{' }, undefined],
    ['nothing, when it is no map', { [ANNOTATIONS.base]: '[1]' }, undefined],
  ])('is %s', (_, annotations, base) => {
    expect(baseOf(copy(annotations))).toEqual(base);
  });
});

describe('formatBase', () => {
  it('reads back what it wrote, and refuses what no annotation can hold', () => {
    expect(baseOf(copy({ [ANNOTATIONS.base]: formatBase(hashes) ?? '' }))).toEqual(hashes);
    const many = Object.fromEntries(
      Array.from({ length: 8_000 }, (_, index) => [`d/key-${index}`, '0123456789abcdef']),
    );
    expect(formatBase(many)).toBeUndefined();
  });
});
