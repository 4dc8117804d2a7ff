import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDuration, formatDurationNs, parseDuration, parseDurationNs } from './duration.ts';

describe('parseDuration', () => {
  it.each([
    ['0', 0],
    ['0s', 0],
    ['-0', 0],
    ['1h30m', 5_400_000],
    ['1.5s', 1500],
    ['-2ms', -2],
    ['+5m', 300_000],
    ['1h0m0.25s', 3_600_250],
    ['.5h', 1_800_000],
    ['1.s', 1000],
    ['100us', 0.1],
    ['100\u00b5s', 0.1],
    ['100\u03bcs', 0.1],
    ['1ns', 0.000001],
    ['1m1m', 120_000],
  ])('parses %s as %s ms', (text, ms) => {
    expect(parseDuration(text)).toBeCloseTo(ms, 9);
    expect(Object.is(parseDuration(text), -0)).toBe(false);
  });

  it('is exact in nanoseconds up to the limits of int64', () => {
    expect(parseDurationNs('2562047h47m16.854775807s')).toBe(2n ** 63n - 1n);
    expect(parseDurationNs('-9223372036854775808ns')).toBe(-(2n ** 63n));
    expect(parseDurationNs('0.100000000000000000000h')).toBe(360_000_000_000n);
    expect(parseDurationNs('0.3333333333333333333h')).toBe(1_200_000_000_000n);
    expect(parseDurationNs(`${'0'.repeat(40)}1s`)).toBe(1_000_000_000n);
  });

  it.each([
    ['', 'time: invalid duration ""'],
    ['-', 'time: invalid duration "-"'],
    ['3', 'time: missing unit in duration "3"'],
    ['1h3', 'time: missing unit in duration "1h3"'],
    ['.s', 'time: invalid duration ".s"'],
    ['s', 'time: invalid duration "s"'],
    ['1d', 'time: unknown unit "d" in duration "1d"'],
    ['1S', 'time: unknown unit "S" in duration "1S"'],
    ['1 h', 'time: unknown unit " h" in duration "1 h"'],
    ['1h-5m', 'time: unknown unit "h-" in duration "1h-5m"'],
    ['9223372036854775808ns', 'time: invalid duration "9223372036854775808ns"'],
    ['2562048h', 'time: invalid duration "2562048h"'],
    ['99999999999999999999999999h', 'time: invalid duration "99999999999999999999999999h"'],
    ['1\u00b5', String.raw`time: unknown unit "\xc2\xb5" in duration "1\xc2\xb5"`],
    ['1constructor', 'time: unknown unit "constructor" in duration "1constructor"'],
  ])('rejects %j with the error of Go', (text, detail) => {
    expect(() => parseDuration(text)).toThrow(
      expect.objectContaining({ code: 'BOWLINE_DURATION_INVALID', detail, message: expect.stringContaining(detail) }),
    );
  });

  it('abbreviates a long text at the start of its message', () => {
    expect(() => parseDuration('x'.repeat(5000))).toThrow(/^cannot parse the duration "x{100}…": /);
  });
});

describe('formatDuration', () => {
  it.each([
    [0, '0s'],
    [0.000001, '1ns'],
    [0.0011, '1.1\u00b5s'],
    [2.2, '2.2ms'],
    [999, '999ms'],
    [3300, '3.3s'],
    [60_000, '1m0s'],
    [245_000, '4m5s'],
    [245_001, '4m5.001s'],
    [5_400_000, '1h30m0s'],
    [90_061_000, '25h1m1s'],
    [-1500, '-1.5s'],
  ])('formats %s ms as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY])('rejects %s', (ms) => {
    expect(() => formatDuration(ms)).toThrow(expect.objectContaining({ code: 'BOWLINE_DURATION_INVALID' }));
  });

  it('round-trips every duration of int64 nanoseconds', () => {
    fc.assert(
      fc.property(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), (nanoseconds) => {
        const text = formatDurationNs(nanoseconds);
        expect(parseDurationNs(text)).toBe(nanoseconds);
      }),
    );
  });
});
