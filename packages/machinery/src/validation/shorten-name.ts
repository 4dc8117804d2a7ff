import { hash } from 'node:crypto';

const HASH_CHARACTERS = 10;

/**
 * shortenName shortens a name to at most `maxLength` characters, for instance for the value of a label. A longer name is cut,
 * and a hash distinguishes it from others with the same beginning.
 *
 * @example
 * shortenName('a'.repeat(80), 63); // 52 times a, a dash and 10 digits
 */
export function shortenName(name: string, maxLength: number): string {
  if (name.length <= maxLength) return name;
  // The name must not end in a dot or dash before the suffix, or the result could be mistaken for a different name.
  const start = name.slice(0, maxLength - HASH_CHARACTERS - 1).replace(/[-.]+$/, '');
  return `${start}-${hash('sha256', name, 'hex').slice(0, HASH_CHARACTERS)}`;
}
