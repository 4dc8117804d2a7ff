import { byUtf8, formatValue } from '../json/go-text.ts';
import { type FieldsV1, parsePathElement } from './fields-v1.ts';
import { isMember, NO_FIELDS } from './set-operations.ts';

/**
 * fieldPaths writes out the members of a set as people read them, `.spec.ports[port=80,protocol="TCP"].name`: at every level
 * first what is in the set itself, then what is only in something that is not.
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

/** elementPath writes one path element as people read it. */
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

/** Fields come before keys, values and places: the order of their letters but for the places. */
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
