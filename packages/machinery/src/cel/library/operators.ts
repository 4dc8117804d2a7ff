import { compareValues, isEqual, Lookup } from '../equality.ts';
import type { Meter } from '../frame.ts';
import { overload, type Run } from '../overloads.ts';
import { CelFailure, type CelValue, DurationValue, ListValue, type MapValue, TimestampValue } from '../values.ts';

const MIN_INT64 = -(2n ** 63n);
const MAX_INT64 = 2n ** 63n - 1n;

/** int64 fails if a value does not fit into 64 bits. */
export function int64(value: bigint): bigint {
  if (value < MIN_INT64 || value > MAX_INT64) throw new CelFailure('integer overflow');
  return value;
}

function divide(a: bigint, b: bigint): bigint {
  if (b === 0n) throw new CelFailure('division by zero');
  return int64(a / b);
}

function modulo(a: bigint, b: bigint): bigint {
  if (b === 0n) throw new CelFailure('modulus by zero');
  return a % b;
}

/** A set keeps one of each item, a list-map takes the newer item for each key; other lists are concatenated. */
function concatenate(this: Meter, a: ListValue, b: ListValue): ListValue {
  if (a.kind === 'set') {
    const own = new Lookup(this, a.items);
    const added = b.items.filter((item) => {
      const isNew = !own.has(item);
      if (isNew) own.add(item);
      return isNew;
    });
    return new ListValue([...a.items, ...added], { kind: 'set' });
  }
  const { keyOf } = a;
  if (keyOf === undefined) return new ListValue([...a.items, ...b.items]);
  const merged = new Map(a.items.map((item) => [keyOf(item), item]));
  for (const item of b.items) merged.set(keyOf(item), item);
  return new ListValue([...merged.values()], { kind: 'map', keyOf });
}

const ORDERED_TYPES = ['bool', 'int', 'double', 'string', 'bytes', 'timestamp', 'duration'];
const MIXED_TYPES = [
  ['int', 'double'],
  ['double', 'int'],
];

const comparisons = (
  [
    ['_<_', (order: number) => order < 0],
    ['_<=_', (order: number) => order <= 0],
    ['_>_', (order: number) => order > 0],
    ['_>=_', (order: number) => order >= 0],
  ] as const
).flatMap(([name, holds]) => {
  return [...ORDERED_TYPES.map((type) => [type, type]), ...MIXED_TYPES].map(([left, right]) => {
    return {
      ...overload(`op(${left}, ${right}): bool`, function (a: CelValue, b: CelValue) {
        return holds(compareValues(a, b, this));
      }),
      name,
    };
  });
});

function operator(name: string, signature: string, run: Run) {
  return { ...overload(`op${signature}`, run), name };
}

/** operators holds the overloads of the language's operators, named as in cel-go. */
export const operators = [
  ...comparisons,
  operator('_==_', '(A, A): bool', function (a: CelValue, b: CelValue) {
    return isEqual(a, b, this);
  }),
  operator('_!=_', '(A, A): bool', function (a: CelValue, b: CelValue) {
    return !isEqual(a, b, this);
  }),
  operator('!_', '(bool): bool', (a: boolean) => !a),
  operator('-_', '(int): int', (a: bigint) => int64(-a)),
  operator('-_', '(double): double', (a: number) => -a),
  operator('_+_', '(int, int): int', (a: bigint, b: bigint) => int64(a + b)),
  operator('_+_', '(double, double): double', (a: number, b: number) => a + b),
  operator('_+_', '(string, string): string', (a: string, b: string) => a + b),
  operator('_+_', '(bytes, bytes): bytes', (a: Uint8Array, b: Uint8Array) => new Uint8Array(Buffer.concat([a, b]))),
  operator('_+_', '(list<A>, list<A>): list<A>', concatenate),
  operator(
    '_+_',
    '(timestamp, duration): timestamp',
    (a: TimestampValue, b: DurationValue) => new TimestampValue(a.nanoseconds + b.nanoseconds),
  ),
  operator(
    '_+_',
    '(duration, timestamp): timestamp',
    (a: DurationValue, b: TimestampValue) => new TimestampValue(a.nanoseconds + b.nanoseconds),
  ),
  operator(
    '_+_',
    '(duration, duration): duration',
    (a: DurationValue, b: DurationValue) => new DurationValue(a.nanoseconds + b.nanoseconds),
  ),
  operator('_-_', '(int, int): int', (a: bigint, b: bigint) => int64(a - b)),
  operator('_-_', '(double, double): double', (a: number, b: number) => a - b),
  operator(
    '_-_',
    '(timestamp, duration): timestamp',
    (a: TimestampValue, b: DurationValue) => new TimestampValue(a.nanoseconds - b.nanoseconds),
  ),
  operator(
    '_-_',
    '(timestamp, timestamp): duration',
    (a: TimestampValue, b: TimestampValue) => new DurationValue(a.nanoseconds - b.nanoseconds),
  ),
  operator(
    '_-_',
    '(duration, duration): duration',
    (a: DurationValue, b: DurationValue) => new DurationValue(a.nanoseconds - b.nanoseconds),
  ),
  operator('_*_', '(int, int): int', (a: bigint, b: bigint) => int64(a * b)),
  operator('_*_', '(double, double): double', (a: number, b: number) => a * b),
  operator('_/_', '(int, int): int', divide),
  operator('_/_', '(double, double): double', (a: number, b: number) => a / b),
  operator('_%_', '(int, int): int', modulo),
  operator('@in', '(A, list<A>): bool', function (item: CelValue, list: ListValue) {
    return list.items.some((own) => isEqual(own, item, this));
  }),
  operator('@in', '(A, map<A, B>): bool', (key: CelValue, map: MapValue) => map.find(key) !== undefined),
];
