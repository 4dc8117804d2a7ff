import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareResourceVersions, isResourceVersion } from './resource-version.ts';

describe('compareResourceVersions', () => {
  it.each([
    ['1', '1', 0],
    ['9', '10', -1],
    ['100', '99', 1],
    ['18446744073709551615', '18446744073709551616', -1],
    ['123456789012345678901234567890', '123456789012345678901234567889', 1],
  ])('compares %s with %s as numbers of any length', (a, b, expected) => {
    expect(compareResourceVersions(a, b)).toBe(expected);
  });

  it.each(['', '0', '007', '-1', '+1', '1.0', ' 1', '1 ', '1e3', '0x1', 'abc', '１', '12a'])(
    'returns no order for %j, not even with itself',
    (text) => {
      expect(isResourceVersion(text)).toBe(false);
      expect(compareResourceVersions(text, '5')).toBeUndefined();
      expect(compareResourceVersions('5', text)).toBeUndefined();
      expect(compareResourceVersions(text, text)).toBeUndefined();
    },
  );

  it('agrees with the order of integers', () => {
    const version = fc.bigInt(1n, 2n ** 80n);
    fc.assert(
      fc.property(version, version, (a, b) => {
        expect(compareResourceVersions(String(a), String(b))).toBe(a < b ? -1 : a > b ? 1 : 0);
      }),
    );
  });
});
