import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatMicroTime, formatTime, parseTime } from './timestamp.ts';

const NOON = Date.UTC(2026, 0, 31, 12);

describe('formatTime and formatMicroTime', () => {
  it('format whole seconds and exactly six fractional digits', () => {
    expect(formatTime(NOON + 999)).toBe('2026-01-31T12:00:00Z');
    expect(formatMicroTime(NOON)).toBe('2026-01-31T12:00:00.000000Z');
    expect(formatMicroTime(NOON + 7.25)).toBe('2026-01-31T12:00:00.007250Z');
    expect(formatMicroTime(NOON + 999.9999)).toBe('2026-01-31T12:00:01.000000Z');
    expect(formatMicroTime(-0.001)).toBe('1969-12-31T23:59:59.999999Z');
    expect(formatTime(-1)).toBe('1969-12-31T23:59:59Z');
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Date.UTC(10_000, 0)])('refuse %s', (ms) => {
    expect(() => formatTime(ms)).toThrow(expect.objectContaining({ code: 'BOWLINE_TIME_INVALID' }));
    expect(() => formatMicroTime(ms)).toThrow(expect.objectContaining({ code: 'BOWLINE_TIME_INVALID' }));
  });
});

describe('parseTime', () => {
  it.each([
    ['2026-01-31T12:00:00Z', NOON],
    ['2026-01-31T12:00:00.007250Z', NOON + 7.25],
    ['2026-01-31T17:30:00+05:30', NOON],
    ['2026-01-31T11:00:00.5-01:00', NOON + 500],
    ['2026-01-31T12:00:00.123456789Z', NOON + 123.456],
    ['0001-01-01T00:00:00Z', -62135596800000],
    ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
  ])('reads %s', (text, ms) => {
    expect(parseTime(text)).toBeCloseTo(ms, 3);
  });

  it.each([
    '',
    '2026-01-31',
    '2026-01-31 12:00:00Z',
    '2026-01-31T12:00:00',
    '2026-02-30T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-10T00:00:00Z',
    '2026-01-31T24:00:00Z',
    '2026-01-31T12:60:00Z',
    '2026-01-31T12:00:00.Z',
    '2026-01-31t12:00:00z',
  ])('rejects %j', (text) => {
    expect(() => parseTime(text)).toThrow(expect.objectContaining({ code: 'BOWLINE_TIME_INVALID' }));
  });

  it('round-trips every microsecond', () => {
    // Up to the year 2109: from 2^42 ms on, the fraction of a double is coarser than half a microsecond.
    const seconds = fc.integer({ min: -4.3e9, max: 4.3e9 });
    fc.assert(
      fc.property(seconds, fc.integer({ min: 0, max: 999_999 }), (s, us) => {
        const text = `${formatTime(s * 1000).slice(0, -1)}.${String(us).padStart(6, '0')}Z`;
        expect(formatMicroTime(parseTime(text))).toBe(text);
        expect(formatTime(parseTime(text))).toBe(formatTime(s * 1000));
      }),
    );
  });
});
