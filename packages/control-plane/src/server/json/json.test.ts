import { describe, expect, it } from 'vitest';
import { canonicalJson, readJson } from './canonical-json.ts';

describe('canonicalJson', () => {
  it('is the same text for the same value in another order', () => {
    expect(canonicalJson({ b: { d: 1, c: [{ z: 1, y: 2 }] }, a: undefined })).toBe('{"b":{"c":[{"y":2,"z":1}],"d":1}}');
  });

  it('writes large integers as they were read', () => {
    const text = '{"big":9223372036854775807,"list":[-9223372036854775808,1]}';
    expect(canonicalJson(readJson(text))).toBe(text);
  });
});
