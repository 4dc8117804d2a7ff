import { hash } from 'node:crypto';

const HASH_CHARACTERS = 10;

/**
 * shortName is a name where only so many characters fit, as in the value of a label: a longer one is cut, and told apart from others
 * that begin alike by a hash.
 *
 * @example
 * shortName('a'.repeat(80), 63); // 52 times a, a dash and 10 digits
 */
export function shortName(name: string, most: number): string {
  if (name.length <= most) return name;
  // A name may not end in a dot or dash before the suffix, or the result would read like another name's.
  const start = name.slice(0, most - HASH_CHARACTERS - 1).replace(/[-.]+$/, '');
  return `${start}-${hash('sha256', name, 'hex').slice(0, HASH_CHARACTERS)}`;
}
