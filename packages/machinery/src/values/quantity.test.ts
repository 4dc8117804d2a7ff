import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  subtractQuantities,
  wholeMilliUnits,
  wholeUnits,
} from './quantity.ts';

const canonical = (text: string | number): string => formatQuantity(parseQuantity(text));

describe('the canonical form', () => {
  // As formatted by Kubernetes 1.35.8.
  it.each([
    ['0', '0'],
    ['-0', '0'],
    ['0Ki', '0'],
    ['00012', '12'],
    ['+5', '5'],
    ['1.', '1'],
    ['.5', '500m'],
    ['1.5', '1500m'],
    ['0.1', '100m'],
    ['100m', '100m'],
    ['1000m', '1'],
    ['1500m', '1500m'],
    ['1000', '1k'],
    ['1024', '1024'],
    ['1100000', '1100k'],
    ['100000k', '100M'],
    ['1.5E', '1500P'],
    ['10000000000000000000', '10E'],
    ['0.0000000001', '1n'],
    ['0.5n', '1n'],
    ['-0.5n', '-1n'],
    ['1.0000000001', '1000000001n'],
    ['1Gi', '1Gi'],
    ['0.5Gi', '512Mi'],
    ['1.5Gi', '1536Mi'],
    ['1024Ki', '1Mi'],
    ['1000Ki', '1000Ki'],
    ['1Ki', '1Ki'],
    ['.5Ki', '512'],
    ['1.25Ki', '1280'],
    ['-1.5Ki', '-1536'],
    ['0.1Ki', '102400m'],
    ['0.0001Ki', '102400u'],
    ['9Ei', '9223372036854775807'],
    ['-9Ei', '-9223372036854775807'],
    ['1e3', '1e3'],
    ['1E3', '1e3'],
    ['1e+3', '1e3'],
    ['12e6', '12e6'],
    ['1e2', '100'],
    ['100e-1', '10'],
    ['1e-3', '1e-3'],
    ['1e-10', '1e-9'],
    ['-1e-10', '-1e-9'],
    ['1e100', '10e99'],
  ])('of %s is %s', (text, expected) => {
    expect(canonical(text)).toBe(expected);
  });

  it('keeps the value of an amount beyond the largest suffix', () => {
    expect(canonical('1000E')).toBe('1000E');
    const huge = addQuantities(parseQuantity('4Ei'), parseQuantity('9Ei'));
    expect(parseQuantity(formatQuantity({ ...huge, format: 'DecimalSI' })).nanos).toBe(huge.nanos);
    expect(formatQuantity({ nanos: 1024n ** 7n * 10n ** 9n, format: 'BinarySI' })).toBe('1024Ei');
  });

  it('of a JSON number is that of its decimal form', () => {
    expect(canonical(2)).toBe('2');
    expect(canonical(0.25)).toBe('250m');
    expect(canonical(1e21)).toBe('1e21');
  });
});

describe('parseQuantity', () => {
  const format = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  const suffix = "unable to parse quantity's suffix";
  const number = 'unable to parse numeric part of quantity';
  it.each([
    ['', format],
    [' 1', format],
    ['1 ', format],
    ['1.1.1', format],
    ['0x1', format],
    ['1,5', format],
    ['1Gi!', format],
    ['NaN', format],
    ['1'.repeat(257), format],
    ['1K', suffix],
    ['1mi', suffix],
    ['1i', suffix],
    ['1e', suffix],
    ['1ee3', suffix],
    ['5-3', suffix],
    ['1e257', suffix],
    ['1e99999999999999999999', suffix],
    ['.', number],
    ['-', number],
    ['Pi', number],
  ])('rejects %j with the error of the API server', (text, detail) => {
    expect(() => parseQuantity(text)).toThrow(
      expect.objectContaining({ code: 'BOWLINE_QUANTITY_INVALID', detail, message: expect.stringContaining(detail) }),
    );
  });
});

describe('arithmetic', () => {
  it('adds and subtracts exactly, where floating point would not', () => {
    const sum = addQuantities(parseQuantity('0.1'), parseQuantity('0.2'));
    expect(formatQuantity(sum)).toBe('300m');
    expect(compareQuantities(sum, parseQuantity('300m'))).toBe(0);
    expect(formatQuantity(subtractQuantities(parseQuantity('1E'), parseQuantity('1n')))).toBe(
      '999999999999999999999999999n',
    );
  });

  it('keeps the format of the first, unless it is zero', () => {
    expect(formatQuantity(addQuantities(parseQuantity('1Gi'), parseQuantity('1G')))).toBe('2073741824');
    expect(formatQuantity(addQuantities(parseQuantity('1G'), parseQuantity('1Gi')))).toBe('2073741824');
    expect(formatQuantity(addQuantities(parseQuantity('0'), parseQuantity('1Gi')))).toBe('1Gi');
    expect(formatQuantity(subtractQuantities(parseQuantity('0'), parseQuantity('1Gi')))).toBe('-1Gi');
    expect(formatQuantity(subtractQuantities(parseQuantity('1Mi'), parseQuantity('512Ki')))).toBe('512Ki');
  });

  it('compares by value across formats', () => {
    expect(compareQuantities(parseQuantity('1Ki'), parseQuantity('1k'))).toBe(1);
    expect(compareQuantities(parseQuantity('1000m'), parseQuantity('1e0'))).toBe(0);
    expect(compareQuantities(parseQuantity('-1'), parseQuantity('0'))).toBe(-1);
  });

  it('rounds to whole units away from zero', () => {
    expect(wholeUnits(parseQuantity('1.1'))).toBe(2n);
    expect(wholeUnits(parseQuantity('-1.1'))).toBe(-2n);
    expect(wholeUnits(parseQuantity('1Ki'))).toBe(1024n);
    expect(wholeMilliUnits(parseQuantity('1.0001'))).toBe(1001n);
    expect(wholeMilliUnits(parseQuantity('250m'))).toBe(250n);
  });
});

describe('for any quantity', () => {
  const quantity: fc.Arbitrary<Quantity> = fc
    .tuple(
      fc.stringMatching(/^-?[0-9]{1,18}(\.[0-9]{0,12})?$/),
      fc.constantFrom('', 'n', 'u', 'm', 'k', 'M', 'G', 'T', 'P', 'E', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei', 'e3', 'e-6'),
    )
    .map(([number, suffix]) => parseQuantity(number + suffix));

  it('the canonical form parses to the same amount and is its own canonical form', () => {
    fc.assert(
      fc.property(quantity, (value) => {
        const text = formatQuantity(value);
        expect(parseQuantity(text).nanos).toBe(value.nanos);
        expect(canonical(text)).toBe(text);
      }),
    );
  });

  it('adding and subtracting the same returns to the start, and order agrees with subtraction', () => {
    fc.assert(
      fc.property(quantity, quantity, (a, b) => {
        expect(subtractQuantities(addQuantities(a, b), b).nanos).toBe(a.nanos);
        const difference = subtractQuantities(a, b).nanos;
        expect(compareQuantities(a, b)).toBe(difference < 0n ? -1 : difference > 0n ? 1 : 0);
        expect(addQuantities(a, b).nanos).toBe(addQuantities(b, a).nanos);
      }),
    );
  });

  it('a positive amount never becomes zero', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 200 }), (digit, zeros) => {
        expect(parseQuantity(`0.${'0'.repeat(zeros)}${digit}`).nanos).toBeGreaterThan(0n);
      }),
    );
  });
});
