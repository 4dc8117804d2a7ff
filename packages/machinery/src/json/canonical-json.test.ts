import { describe, expect, it } from 'vitest';
import { canonicalJson, readJson } from './canonical-json.ts';

describe('canonicalJson', () => {
  it('returns the same text whatever the order of the fields', () => {
    expect(canonicalJson({ b: { d: 1, c: [{ z: 1, y: 2 }] }, a: undefined })).toBe('{"b":{"c":[{"y":2,"z":1}],"d":1}}');
  });

  it('preserves large integers', () => {
    const text = '{"big":9223372036854775807,"list":[-9223372036854775808,1]}';
    expect(canonicalJson(readJson(text))).toBe(text);
  });
});
