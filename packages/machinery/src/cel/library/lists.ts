import { compareValues, isEqual, Lookup } from '../equality.ts';
import { overload } from '../overloads.ts';
import { CelFailure, type CelValue, DurationValue, ListValue } from '../values.ts';
import { int64 } from './operators.ts';

const COMPARABLE = ['int', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes'];

// lists.range is the one function whose result is larger than what it is given.
const LONGEST_RANGE = 100_000n;

function isSorted(list: ListValue): boolean {
  return list.items.every((item, index) => {
    const before = list.items[index - 1];
    return index === 0 || before === undefined || compareValues(before, item) <= 0;
  });
}

function extreme(name: 'min' | 'max'): (list: ListValue) => CelValue {
  return ({ items: [first, ...others] }) => {
    if (first === undefined) throw new CelFailure(`${name} called on empty list`);
    return others.reduce((best, item) => {
      const order = compareValues(best, item);
      return (name === 'min' ? order > 0 : order < 0) ? item : best;
    }, first);
  };
}

function indexOf(list: ListValue, item: CelValue): bigint {
  return BigInt(list.items.findIndex((own) => isEqual(own, item)));
}

function lastIndexOf(list: ListValue, item: CelValue): bigint {
  return BigInt(list.items.findLastIndex((own) => isEqual(own, item)));
}

function slice(list: ListValue, start: bigint, end: bigint): ListValue {
  if (start < 0n || end < 0n) throw new CelFailure(`cannot slice(${start}, ${end}), negative indexes not supported`);
  if (start > end)
    throw new CelFailure(`cannot slice(${start}, ${end}), start index must be less than or equal to end index`);
  if (end > BigInt(list.length)) throw new CelFailure(`cannot slice(${start}, ${end}), list is length ${list.length}`);
  return new ListValue(list.items.slice(Number(start), Number(end)));
}

function distinct(list: ListValue): ListValue {
  const seen = new Lookup();
  const firsts = list.items.filter((item) => {
    const isFirst = !seen.has(item);
    if (isFirst) seen.add(item);
    return isFirst;
  });
  return new ListValue(firsts);
}

function flatten(list: ListValue): ListValue {
  return new ListValue(list.items.flatMap((item) => (item instanceof ListValue ? item.items : [item])));
}

function range(length: bigint): ListValue {
  if (length > LONGEST_RANGE) throw new CelFailure(`lists.range(${length}) is longer than ${LONGEST_RANGE}`);
  return new ListValue(Array.from({ length: Math.max(0, Number(length)) }, (_, index) => BigInt(index)));
}

function contains(list: ListValue, other: ListValue): boolean {
  const own = new Lookup(list.items);
  return other.items.every((item) => own.has(item));
}

function intersects(list: ListValue, other: ListValue): boolean {
  const own = new Lookup(list.items);
  return other.items.some((item) => own.has(item));
}

/** lists are functions on lists, and on lists as sets. */
export const lists = [
  ...COMPARABLE.flatMap((type) => [
    overload(`list<${type}>.isSorted(): bool`, isSorted),
    overload(`list<${type}>.min(): ${type}`, extreme('min')),
    overload(`list<${type}>.max(): ${type}`, extreme('max')),
    overload(
      `list<${type}>.sort(): list<${type}>`,
      (list: ListValue) => new ListValue(list.items.toSorted(compareValues)),
    ),
  ]),
  overload('list<int>.sum(): int', (list: ListValue) =>
    list.items.reduce((sum: bigint, item) => int64(sum + (item as bigint)), 0n),
  ),
  overload('list<double>.sum(): double', (list: ListValue) =>
    list.items.reduce((sum: number, item) => sum + (item as number), 0),
  ),
  overload('list<duration>.sum(): duration', (list: ListValue) => {
    return new DurationValue(list.items.reduce((sum: bigint, item) => sum + (item as DurationValue).nanoseconds, 0n));
  }),
  overload('list<A>.indexOf(A): int', indexOf),
  overload('list<A>.lastIndexOf(A): int', lastIndexOf),
  overload('list<A>.slice(int, int): list<A>', slice),
  overload('list<A>.reverse(): list<A>', (list: ListValue) => new ListValue(list.items.toReversed())),
  overload('list<A>.distinct(): list<A>', distinct),
  overload('list<list<A>>.flatten(): list<A>', flatten),
  overload('lists.range::(int): list<int>', range),
  overload('sets.contains::(list<A>, list<A>): bool', contains),
  overload(
    'sets.equivalent::(list<A>, list<A>): bool',
    (a: ListValue, b: ListValue) => contains(a, b) && contains(b, a),
  ),
  overload('sets.intersects::(list<A>, list<A>): bool', intersects),
];
