import { byUtf8 } from '../json/go-text.ts';
import { isSameJson } from '../json/json.ts';
import { type Meter, stepsFor } from './frame.ts';
import { measureJson } from './measure-json.ts';
import { ObjectValue, OpaqueValue } from './schema-values.ts';
import {
  CelFailure,
  type CelValue,
  DurationValue,
  ListValue,
  MapValue,
  OptionalValue,
  type ScalarValue,
  TimestampValue,
} from './values.ts';

/**
 * isEqual compares two values. Numbers compare by value, regardless of their type; values of different types are not
 * equal. Every visited value costs a step, because user data may be large and be compared repeatedly.
 */
export function isEqual(a: CelValue, b: CelValue, meter: Meter): boolean {
  meter.spend(typeof a === 'string' && typeof b === 'string' && a.length === b.length ? 1 + stepsFor(a) : 1);
  if (a === b) return true;
  // Exact between bigint and number, and false for NaN.
  if (isNumber(a) && isNumber(b)) return a <= b && a >= b;
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return false;
  if (a instanceof Uint8Array || b instanceof Uint8Array) return isEqualBytes(a, b, meter);
  if (a instanceof ListValue) return b instanceof ListValue && isEqualList(a, b, meter);
  if (a instanceof MapValue) return b instanceof MapValue && isEqualMap(a, b, meter);
  if (a instanceof ObjectValue) return b instanceof ObjectValue && isEqualObject(a, b, meter);
  if (a instanceof OpaqueValue) return b instanceof OpaqueValue && isEqualJson(a.json, b.json, meter);
  if (a instanceof OptionalValue) return b instanceof OptionalValue && isEqualOptional(a, b, meter);
  // Both have the same type, so isSame accepts the other value.
  return a.type === b.type && (a.isSame as (other: ScalarValue) => boolean)(b);
}

function isEqualBytes(a: CelValue, b: CelValue, meter: Meter): boolean {
  if (!(a instanceof Uint8Array && b instanceof Uint8Array) || a.length !== b.length) return false;
  meter.spend(stepsFor(a));
  return Buffer.compare(a, b) === 0;
}

function isEqualMap(a: MapValue, b: MapValue, meter: Meter): boolean {
  if (a.size !== b.size) return false;
  return a.keys().every((key) => {
    const other = b.find(key);
    return other !== undefined && isEqual(a.find(key) ?? null, other, meter);
  });
}

/** Fields that the schema does not describe are compared as JSON. */
function isEqualObject(a: ObjectValue, b: ObjectValue, meter: Meter): boolean {
  return a.isSame(b, {
    values: (mine, theirs) => isEqual(mine, theirs, meter),
    json: (mine, theirs) => isEqualJson(mine, theirs, meter),
  });
}

function isEqualJson(a: unknown, b: unknown, meter: Meter): boolean {
  meter.spend(Math.min(measureJson(a), measureJson(b)));
  return isSameJson(a, b);
}

function isEqualOptional(a: OptionalValue, b: OptionalValue, meter: Meter): boolean {
  if (a.value === undefined || b.value === undefined) return a.value === b.value;
  return isEqual(a.value, b.value, meter);
}

function isEqualList(a: ListValue, b: ListValue, meter: Meter): boolean {
  if (a.length !== b.length) return false;
  if (a.kind !== 'atomic') meter.spend(a.length);
  if (a.kind === 'set') {
    const own = new Lookup(meter, a.items);
    return b.items.every((item) => own.has(item));
  }
  const { keyOf } = a;
  if (keyOf !== undefined) {
    const own = new Map(a.items.map((item) => [keyOf(item), item]));
    return b.items.every((item) => {
      const counterpart = own.get(keyOf(item));
      return counterpart !== undefined && isEqual(counterpart, item, meter);
    });
  }
  for (let index = 0; index < a.length; index++) {
    if (!isEqual(a.at(index) ?? null, b.at(index) ?? null, meter)) return false;
  }
  return true;
}

/** Lookup tests whether a value is in a collection: scalars in constant time, everything else one by one. */
export class Lookup {
  readonly #scalars = new Set<string>();
  readonly #others: CelValue[] = [];
  readonly #meter: Meter;

  constructor(meter: Meter, values: readonly CelValue[] = []) {
    this.#meter = meter;
    for (const value of values) this.add(value);
  }

  /** add adds a value. */
  add(value: CelValue): void {
    const key = scalarKey(value);
    if (key === undefined) this.#others.push(value);
    else this.#scalars.add(key);
  }

  /** has reports whether the collection contains an equal value. */
  has(value: CelValue): boolean {
    const key = scalarKey(value);
    return key === undefined ? this.#others.some((own) => isEqual(own, value, this.#meter)) : this.#scalars.has(key);
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

/** compareValues returns a negative number, zero or a positive number; it fails for values that have no order. */
export function compareValues(a: CelValue, b: CelValue, meter: Meter): number {
  meter.spend(1 + (typeof a === 'string' && typeof b === 'string' ? Math.min(stepsFor(a), stepsFor(b)) : 0));
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
