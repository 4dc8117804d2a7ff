import { isSameJson } from '../patch/json.ts';
import { compareQuantities } from '../quantity/quantity.ts';
import { byUtf8 } from '../schema/go-text.ts';
import { ObjectValue, OpaqueValue } from './schema-values.ts';
import {
  CelFailure,
  type CelValue,
  CidrValue,
  DurationValue,
  FormatValue,
  IpValue,
  ListValue,
  MapValue,
  OptionalValue,
  QuantityValue,
  TimestampValue,
  TypeValue,
  UrlValue,
} from './values.ts';

/** isEqual compares two values. Numbers compare by value, whatever their type; values of different types are not equal. */
export function isEqual(a: CelValue, b: CelValue): boolean {
  if (a === b) return true;
  // Exact between bigint and number, and false for NaN.
  if (isNumber(a) && isNumber(b)) return a <= b && a >= b;
  if (a instanceof ListValue && b instanceof ListValue) return isEqualList(a, b);
  if (a instanceof MapValue && b instanceof MapValue) {
    return (
      a.size === b.size &&
      a.entries().every(([key, value]) => {
        const other = b.find(key);
        return other !== undefined && isEqual(value, other);
      })
    );
  }
  if (a instanceof ObjectValue && b instanceof ObjectValue) return a.isSame(b, isEqual);
  if (a instanceof OpaqueValue && b instanceof OpaqueValue) return isSameJson(a.json, b.json);
  if (a instanceof OptionalValue && b instanceof OptionalValue) {
    if (a.value === undefined || b.value === undefined) return a.value === b.value;
    return isEqual(a.value, b.value);
  }
  return isEqualScalar(a, b);
}

function isEqualScalar(a: CelValue, b: CelValue): boolean {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0;
  if (a instanceof DurationValue && b instanceof DurationValue) return a.nanoseconds === b.nanoseconds;
  if (a instanceof TimestampValue && b instanceof TimestampValue) return a.nanoseconds === b.nanoseconds;
  if (a instanceof TypeValue && b instanceof TypeValue) return a.name === b.name;
  if (a instanceof QuantityValue && b instanceof QuantityValue) return compareQuantities(a.quantity, b.quantity) === 0;
  if (a instanceof IpValue && b instanceof IpValue) return Buffer.compare(a.bytes, b.bytes) === 0;
  if (a instanceof CidrValue && b instanceof CidrValue)
    return a.prefix === b.prefix && Buffer.compare(a.bytes, b.bytes) === 0;
  if (a instanceof UrlValue && b instanceof UrlValue) return a.text === b.text;
  if (a instanceof FormatValue && b instanceof FormatValue) return a.name === b.name;
  return false;
}

function isEqualList(a: ListValue, b: ListValue): boolean {
  if (a.length !== b.length) return false;
  if (a.kind === 'set') {
    const own = new Lookup(a.items);
    return b.items.every((item) => own.has(item));
  }
  const { keyOf } = a;
  if (keyOf !== undefined) {
    const own = new Map(a.items.map((item) => [keyOf(item), item]));
    return b.items.every((item) => {
      const counterpart = own.get(keyOf(item));
      return counterpart !== undefined && isEqual(counterpart, item);
    });
  }
  return a.items.every((item, index) => {
    const other = b.items[index];
    return other !== undefined && isEqual(item, other);
  });
}

/** Lookup finds values among others: scalars at once, everything else one by one. */
export class Lookup {
  readonly #scalars = new Set<string>();
  readonly #others: CelValue[] = [];

  constructor(values: readonly CelValue[] = []) {
    for (const value of values) this.add(value);
  }

  /** add puts in one more. */
  add(value: CelValue): void {
    const key = scalarKey(value);
    if (key === undefined) this.#others.push(value);
    else this.#scalars.add(key);
  }

  /** has tells whether an equal value is there. */
  has(value: CelValue): boolean {
    const key = scalarKey(value);
    return key === undefined ? this.#others.some((own) => isEqual(own, value)) : this.#scalars.has(key);
  }
}

function scalarKey(value: CelValue): string | undefined {
  if (typeof value === 'number') return Number.isInteger(value) ? `n${BigInt(value)}` : `n${value}`;
  if (typeof value === 'bigint') return `n${value}`;
  if (typeof value === 'string') return `s${value}`;
  return typeof value === 'boolean' ? `b${value}` : undefined;
}

function isNumber(value: CelValue): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

/** compareValues is negative, zero or positive; it fails for values that have no order. */
export function compareValues(a: CelValue, b: CelValue): number {
  if (isNumber(a) && isNumber(b)) {
    if (Number.isNaN(a) || Number.isNaN(b)) throw new CelFailure('NaN values cannot be ordered');
    return a < b ? -1 : a > b ? 1 : 0;
  }
  if (typeof a === 'string' && typeof b === 'string') return byUtf8(a, b);
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b);
  if (a instanceof DurationValue && b instanceof DurationValue) return order(a.nanoseconds, b.nanoseconds);
  if (a instanceof TimestampValue && b instanceof TimestampValue) return order(a.nanoseconds, b.nanoseconds);
  throw new CelFailure('no such overload');
}

function order(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
