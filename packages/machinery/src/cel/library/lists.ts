import { compareValues, isEqual, Lookup } from '../equality.ts';
import type { Meter } from '../frame.ts';
import { overload } from '../overloads.ts';
import { CelFailure, type CelValue, DurationValue, ListValue } from '../values.ts';
import { int64 } from './operators.ts';

const COMPARABLE = ['int', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes'];

// lists.range is the only function whose result is larger than its input.
const MAX_RANGE_LENGTH = 100_000n;

const isInt = (value: CelValue): value is bigint => typeof value === 'bigint';
const isDouble = (value: CelValue): value is number => typeof value === 'number';
const isDuration = (value: CelValue): value is DurationValue => value instanceof DurationValue;

/** Type checks look only at the first item of a dynamic list. */
function itemsOf<T extends CelValue>({ items }: ListValue, isItem: (value: CelValue) => value is T): readonly T[] {
  if (!items.every(isItem)) throw new CelFailure('no such overload');
  return items;
}

function isSorted(this: Meter, { items }: ListValue): boolean {
  return items.every((item, index) => {
    const before = items[index - 1];
    return before === undefined || compareValues(before, item, this) <= 0;
  });
}

function sort(this: Meter, { items }: ListValue): ListValue {
  return new ListValue(items.toSorted((a, b) => compareValues(a, b, this)));
}

function extreme(name: 'min' | 'max'): (this: Meter, list: ListValue) => CelValue {
  return function ({ items: [first, ...others] }) {
    if (first === undefined) throw new CelFailure(`${name} called on empty list`);
    return others.reduce((best, item) => {
      const order = compareValues(best, item, this);
      return (name === 'min' ? order > 0 : order < 0) ? item : best;
    }, first);
  };
}

function indexOf(this: Meter, list: ListValue, item: CelValue): bigint {
  return BigInt(list.items.findIndex((own) => isEqual(own, item, this)));
}

function lastIndexOf(this: Meter, list: ListValue, item: CelValue): bigint {
  return BigInt(list.items.findLastIndex((own) => isEqual(own, item, this)));
}

function slice(list: ListValue, start: bigint, end: bigint): ListValue {
  if (start < 0n || end < 0n) throw new CelFailure(`cannot slice(${start}, ${end}), negative indexes not supported`);
  if (start > end)
    throw new CelFailure(`cannot slice(${start}, ${end}), start index must be less than or equal to end index`);
  if (end > BigInt(list.length)) throw new CelFailure(`cannot slice(${start}, ${end}), list is length ${list.length}`);
  return new ListValue(list.items.slice(Number(start), Number(end)));
}

function distinct(this: Meter, list: ListValue): ListValue {
  const seen = new Lookup(this);
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
  if (length > MAX_RANGE_LENGTH)
    throw new CelFailure(`lists.range(${length}) exceeds the limit of ${MAX_RANGE_LENGTH} items`);
  return new ListValue(Array.from({ length: Math.max(0, Number(length)) }, (_, index) => BigInt(index)));
}

function contains(this: Meter, list: ListValue, other: ListValue): boolean {
  const own = new Lookup(this, list.items);
  return other.items.every((item) => own.has(item));
}

function intersects(this: Meter, list: ListValue, other: ListValue): boolean {
  const own = new Lookup(this, list.items);
  return other.items.some((item) => own.has(item));
}

/** lists holds the functions on lists, and on lists as sets. */
export const lists = [
  ...COMPARABLE.flatMap((type) => [
    overload(`list<${type}>.isSorted(): bool`, isSorted),
    overload(`list<${type}>.min(): ${type}`, extreme('min')),
    overload(`list<${type}>.max(): ${type}`, extreme('max')),
    overload(`list<${type}>.sort(): list<${type}>`, sort),
  ]),
  overload('list<int>.sum(): int', (list: ListValue) => {
    return itemsOf(list, isInt).reduce((sum, item) => int64(sum + item), 0n);
  }),
  overload('list<double>.sum(): double', (list: ListValue) => {
    return itemsOf(list, isDouble).reduce((sum, item) => sum + item, 0);
  }),
  overload('list<duration>.sum(): duration', (list: ListValue) => {
    const sum = itemsOf(list, isDuration).reduce((all, { nanoseconds }) => all + nanoseconds, 0n);
    return new DurationValue(sum);
  }),
  overload('list<A>.indexOf(A): int', indexOf),
  overload('list<A>.lastIndexOf(A): int', lastIndexOf),
  overload('list<A>.slice(int, int): list<A>', slice),
  overload('list<A>.reverse(): list<A>', (list: ListValue) => new ListValue(list.items.toReversed())),
  overload('list<A>.distinct(): list<A>', distinct),
  overload('list<list<A>>.flatten(): list<A>', flatten),
  overload('lists.range::(int): list<int>', range),
  overload('sets.contains::(list<A>, list<A>): bool', contains),
  overload('sets.equivalent::(list<A>, list<A>): bool', function (a: ListValue, b: ListValue) {
    return contains.call(this, a, b) && contains.call(this, b, a);
  }),
  overload('sets.intersects::(list<A>, list<A>): bool', intersects),
];
