import { hash } from 'node:crypto';

const HASH_CHARACTERS = 10;

/**
 * shortName shortens a name to at most `most` characters, for instance for the value of a label. A longer name is cut,
 * and a hash distinguishes it from others with the same beginning.
 *
 * @example
 * shortName('a'.repeat(80), 63); // 52 times a, a dash and 10 digits
 */
export function shortName(name: string, most: number): string {
  if (name.length <= most) return name;
  // The name must not end in a dot or dash before the suffix, or the result could be mistaken for a different name.
  const start = name.slice(0, most - HASH_CHARACTERS - 1).replace(/[-.]+$/, '');
  return `${start}-${hash('sha256', name, 'hex').slice(0, HASH_CHARACTERS)}`;
}
