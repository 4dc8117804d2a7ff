import { overload } from '../overloads.ts';
import { CelFailure, type CelValue, DurationValue, ListValue, MapValue, NONE, OptionalValue } from '../values.ts';

function value(optional: OptionalValue): CelValue {
  if (optional.value === undefined) throw new CelFailure('optional.none() dereference');
  return optional.value;
}

function isZero(given: CelValue): boolean {
  if (given instanceof ListValue) return given.length === 0;
  if (given instanceof MapValue) return given.size === 0;
  if (given instanceof DurationValue) return given.nanoseconds === 0n;
  if (given instanceof Uint8Array) return given.length === 0;
  return given === null || given === false || given === 0n || given === 0 || given === '';
}

/**
 * optionals holds the functions on optional values. `or` and `orValue` are part of the language: they evaluate lazily.
 */
export const optionals = [
  overload('optional.of::(A): optional<A>', (given: CelValue) => new OptionalValue(given)),
  overload('optional.none::(): optional<A>', () => NONE),
  overload('optional.ofNonZeroValue::(A): optional<A>', (given: CelValue) =>
    isZero(given) ? NONE : new OptionalValue(given),
  ),
  overload('optional<A>.hasValue(): bool', (optional: OptionalValue) => optional.value !== undefined),
  overload('optional<A>.value(): A', value),
  overload('optional<A>.or(optional<A>): optional<A>', (a: OptionalValue, b: OptionalValue) =>
    a.value === undefined ? b : a,
  ),
  overload('optional<A>.orValue(A): A', (a: OptionalValue, b: CelValue) => (a.value === undefined ? b : a.value)),
];
