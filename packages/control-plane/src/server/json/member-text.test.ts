import { canonicalJson } from '@bowline/machinery';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memberText } from './member-text.ts';

describe('memberText', () => {
  it.each([
    { of: {}, text: undefined },
    { of: { data: { metadata: '{}' } }, text: undefined },
    { of: { data: { metadata: { a: 1 } }, metadata: { name: 'x' } }, text: '{"name":"x"}' },
    { of: { data: { a: '"metadata":{}' }, metadata: {} }, text: '{}' },
    { of: { data: 'a\\', metadata: [1, { b: ']}' }], z: 1 }, text: '[1,{"b":"]}"}]' },
    { of: { a: null, b: true, metadata: 12, z: '"' }, text: '12' },
    { of: { '"metadata': 1, 'metadata"': 2, metadata: 'x"\\' }, text: String.raw`"x\"\\"` },
  ])('of $of is $text', ({ of, text }) => {
    expect(memberText(canonicalJson(of), 'metadata')).toBe(text);
  });

  it('is the text of the member alone, for any object', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (others, metadata) => {
        expect(memberText(canonicalJson({ ...others, metadata }), 'metadata')).toBe(canonicalJson(metadata));
      }),
    );
  });
});
