import {
  addQuantities,
  compareQuantities,
  parseQuantity,
  type Quantity,
  subtractQuantities,
} from '../../values/quantity.ts';
import { overload } from '../overloads.ts';
import { CelFailure, QuantityValue } from '../values.ts';

const NANOS = 1_000_000_000n;

function read(text: string): QuantityValue {
  try {
    return new QuantityValue(parseQuantity(text));
  } catch (error) {
    throw new CelFailure(
      error instanceof Error && 'detail' in error ? String(error.detail) : 'unable to parse quantity',
    );
  }
}

function isQuantity(text: string): boolean {
  try {
    parseQuantity(text);
    return true;
  } catch {
    return false;
  }
}

function isInteger({ quantity }: QuantityValue): boolean {
  const whole = quantity.nanos / NANOS;
  return quantity.nanos % NANOS === 0n && BigInt.asIntN(64, whole) === whole;
}

function asInteger(value: QuantityValue): bigint {
  if (!isInteger(value)) throw new CelFailure('cannot convert value to integer');
  return value.quantity.nanos / NANOS;
}

function compare(a: QuantityValue, b: QuantityValue): number {
  return compareQuantities(a.quantity, b.quantity);
}

function whole(value: bigint): Quantity {
  return { nanos: value * NANOS, format: 'DecimalExponent' };
}

/** quantities holds the functions on resource quantities. */
export const quantities = [
  overload('quantity(string): quantity', read),
  overload('isQuantity(string): bool', isQuantity),
  overload('sign(quantity): int', ({ quantity }: QuantityValue) =>
    quantity.nanos > 0n ? 1n : quantity.nanos < 0n ? -1n : 0n,
  ),
  overload('quantity.isGreaterThan(quantity): bool', (a: QuantityValue, b: QuantityValue) => compare(a, b) > 0),
  overload('quantity.isLessThan(quantity): bool', (a: QuantityValue, b: QuantityValue) => compare(a, b) < 0),
  overload('quantity.compareTo(quantity): int', (a: QuantityValue, b: QuantityValue) => BigInt(compare(a, b))),
  overload('quantity.isInteger(): bool', isInteger),
  overload('quantity.asInteger(): int', asInteger),
  overload(
    'quantity.asApproximateFloat(): double',
    ({ quantity }: QuantityValue) => Number(quantity.nanos) / Number(NANOS),
  ),
  overload(
    'quantity.add(quantity): quantity',
    (a: QuantityValue, b: QuantityValue) => new QuantityValue(addQuantities(a.quantity, b.quantity)),
  ),
  overload(
    'quantity.add(int): quantity',
    (a: QuantityValue, b: bigint) => new QuantityValue(addQuantities(a.quantity, whole(b))),
  ),
  overload(
    'quantity.sub(quantity): quantity',
    (a: QuantityValue, b: QuantityValue) => new QuantityValue(subtractQuantities(a.quantity, b.quantity)),
  ),
  overload(
    'quantity.sub(int): quantity',
    (a: QuantityValue, b: bigint) => new QuantityValue(subtractQuantities(a.quantity, whole(b))),
  ),
];
