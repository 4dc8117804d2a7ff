import { byUtf8, formatValue } from '../json/go-text.ts';
import { type FieldsV1, parsePathElement } from './fields-v1.ts';
import { isMember, NO_FIELDS } from './set-operations.ts';

/**
 * fieldPaths returns the members of a set in readable form, `.spec.ports[port=80,protocol="TCP"].name`: at every level,
 * first the elements that are in the set themselves, then the members below each element.
 */
export function fieldPaths(fields: FieldsV1, prefix = ''): string[] {
  const elements = Object.keys(fields)
    .filter((element) => element !== '.')
    .sort(byElement);
  const members = elements.filter((element) => isMember(fields[element] ?? NO_FIELDS));
  return [
    ...members.map((element) => prefix + elementPath(element)),
    ...elements.flatMap((element) => fieldPaths(fields[element] ?? NO_FIELDS, prefix + elementPath(element))),
  ];
}

/** elementPath returns one path element in readable form. */
export function elementPath(element: string): string {
  const path = parsePathElement(element);
  switch (path?.type) {
    case 'field':
      return `.${path.name}`;
    case 'key': {
      const parts = Object.keys(path.key)
        .sort(byUtf8)
        .map((name) => `${name}=${formatValue(path.key[name])}`);
      return `[${parts.join(',')}]`;
    }
    case 'value':
      return `[=${formatValue(path.value)}]`;
    default:
      return `[${element.slice(2)}]`;
  }
}

/** Fields sort before keys, values and indexes: by their letter, except that indexes come last. */
const RANKS = 'fkvi';

function byElement(a: string, b: string): number {
  const rank = RANKS.indexOf(a.charAt(0)) - RANKS.indexOf(b.charAt(0));
  if (rank !== 0 || a.startsWith('f:')) return rank || byUtf8(a, b);
  const [left, right] = [parsePathElement(a), parsePathElement(b)];
  if (left?.type === 'key' && right?.type === 'key') {
    for (const name of Object.keys(left.key)) {
      const order = byValue(left.key[name], right.key[name]);
      if (order !== 0) return order;
    }
  }
  if (left?.type === 'value' && right?.type === 'value') return byValue(left.value, right.value);
  return byUtf8(a, b);
}

function byValue(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return byUtf8(String(a), String(b));
}
