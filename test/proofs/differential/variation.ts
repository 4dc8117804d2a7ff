import { integerBelow, pick, type Random } from '@bowline/machinery';

const TEXTS = ['', 'a', 'other', 'A B', 'x'.repeat(64), 'a.b-c', '10', 'http', 'Never', 'é'];
const NUMBERS = [0, 1, 2, 5, -1, 80, 70_000, 1.5];
const KEYS = ['extra', 'a', 'app', 'name'];

/** variation returns an object with a random change, mostly a plausible one. */
export function variation(random: Random, object: unknown): unknown {
  let result = object;
  for (let count = 1 + integerBelow(random, 2); count > 0; count--) result = varied(random, result, 0);
  return result;
}

function varied(random: Random, value: unknown, depth: number): unknown {
  if (Array.isArray(value)) {
    const list = value as readonly unknown[];
    const index = integerBelow(random, list.length);
    const share = random.next();
    if (list.length === 0 || share < 0.1) return [...list, 'extra'];
    if (share < 0.2) return [...list, list[index]];
    if (share < 0.3) return list.filter((_, position) => position !== index);
    return list.map((each, position) => (position === index ? varied(random, each, depth + 1) : each));
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value);
    // The identity of an object stays, or everything would be rejected for that.
    const free = entries.filter(([key]) => depth > 1 || !['apiVersion', 'kind', 'name'].includes(key));
    const share = random.next();
    if (free.length === 0 || (share < 0.08 && depth > 0))
      return { ...value, [pick(random, KEYS)]: pick(random, TEXTS) };
    const [chosen = ''] = pick(random, free);
    if (share < 0.2 && depth > 0) return Object.fromEntries(entries.filter(([key]) => key !== chosen));
    return Object.fromEntries(
      entries.map(([key, member]) => [key, key === chosen ? varied(random, member, depth + 1) : member]),
    );
  }
  const share = random.next();
  if (share < 0.06) return null;
  if (typeof value === 'string') return share < 0.9 ? pick(random, TEXTS) : pick(random, NUMBERS);
  if (typeof value === 'number') return share < 0.9 ? pick(random, NUMBERS) : 'text';
  return typeof value === 'boolean' && share < 0.9 ? !value : 'text';
}
