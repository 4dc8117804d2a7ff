import { integerBelow, pick, type Random } from '@bowline/machinery';
import { chance, hostileNumber, hostileText, KEYS } from './hostile-texts.ts';

/** anyValue returns arbitrary, possibly large JSON. */
export function anyValue(random: Random, depth = 3): unknown {
  const share = random.next();
  if (share < 0.3) return hostileText(random);
  if (share < 0.5) return hostileNumber(random);
  if (share < 0.6) return chance(random, 0.5);
  if (share < 0.68) return null;
  if (share < 0.7) return nested(random);
  if (depth === 0) return {};
  const below = (): unknown => anyValue(random, depth - 1);
  const count = integerBelow(random, 4);
  if (share < 0.82) return Array.from({ length: count }, below);
  return Object.fromEntries(Array.from({ length: count }, () => [pick(random, KEYS), below()]));
}

/** Deep, but seldom deeper than a JSON parser supports. */
function nested(random: Random): unknown {
  let value: unknown = 1;
  const key = chance(random, 0.5) ? pick(random, KEYS) : undefined;
  for (let depth = pick(random, [20, 200, 900]); depth > 0; depth--)
    value = key === undefined ? [value] : Object.fromEntries([[key, value]]);
  return value;
}

/** changed returns a value with a few changes: replaced, removed, repeated, renamed, added. */
export function changed(random: Random, value: unknown, times = 1 + integerBelow(random, 3)): unknown {
  let result = value;
  for (let count = 0; count < times; count++) result = changedOnce(random, result);
  return result;
}

function changedOnce(random: Random, value: unknown): unknown {
  if (Array.isArray(value)) return changedList(random, value as readonly unknown[]);
  if (typeof value === 'object' && value !== null && !chance(random, 0.05)) return changedObject(random, value);
  if (typeof value === 'string' && chance(random, 0.3)) return value + hostileText(random);
  if (typeof value === 'number' && chance(random, 0.5)) return hostileNumber(random);
  return anyValue(random);
}

function changedList(random: Random, list: readonly unknown[]): unknown {
  const share = random.next();
  const index = integerBelow(random, list.length);
  if (list.length === 0 || share < 0.15) return [...list, anyValue(random)];
  if (share < 0.3) return [...list, list[index]];
  if (share < 0.4) return list.filter((_, position) => position !== index);
  if (share < 0.42) return Array.from({ length: 300 }, () => list[index]);
  return list.map((each, position) => (position === index ? changedOnce(random, each) : each));
}

function changedObject(random: Random, object: object): unknown {
  const entries = Object.entries(object);
  const share = random.next();
  if (entries.length === 0 || share < 0.12)
    return Object.fromEntries([...entries, [pick(random, KEYS), anyValue(random)]]);
  const index = integerBelow(random, entries.length);
  if (share < 0.2) return Object.fromEntries(entries.filter((_, position) => position !== index));
  return Object.fromEntries(
    entries.map(([key, each], position) => {
      if (position !== index) return [key, each];
      return share < 0.25 ? [hostileText(random), each] : [key, changedOnce(random, each)];
    }),
  );
}
