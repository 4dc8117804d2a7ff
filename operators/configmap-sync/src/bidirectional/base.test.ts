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
    ['the recorded base', { [ANNOTATIONS.base]: '{"d/size":"1234"}' }, { 'd/size': '1234' }],
    [
      'the content of a copy that was synced one way and not edited since',
      { [ANNOTATIONS.appliedHash]: contentHash(contentOf({ data })) },
      hashes,
    ],
    ['nothing, for a copy that was edited', { [ANNOTATIONS.appliedHash]: 'other' }, undefined],
    ['nothing, for an object that was never synced', {}, undefined],
    ['nothing, for a damaged annotation', { [ANNOTATIONS.base]: '{' }, undefined],
    ['nothing, for an annotation that is not a map', { [ANNOTATIONS.base]: '[1]' }, undefined],
  ])('is %s', (_, annotations, base) => {
    expect(baseOf(copy(annotations))).toEqual(base);
  });
});

describe('formatBase', () => {
  it('parses what it formats, and returns undefined for a base that exceeds the limit', () => {
    expect(baseOf(copy({ [ANNOTATIONS.base]: formatBase(hashes) ?? '' }))).toEqual(hashes);
    const many = Object.fromEntries(
      Array.from({ length: 8_000 }, (_, index) => [`d/key-${index}`, '0123456789abcdef']),
    );
    expect(formatBase(many)).toBeUndefined();
  });
});
