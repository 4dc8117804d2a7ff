import { createHash } from 'node:crypto';
import { type Content, type Entry, entriesOf } from './content.ts';

/** contentHash is the hex SHA-256 over the sorted keys of some content with their bytes; of no content too. */
export function contentHash(content: Content): string {
  const hash = createHash('sha256');
  for (const [key, entry] of sorted(content)) {
    const bytes = bytesOf(entry);
    // The length tells where a value ends: without it, two keys could hash like one that spells out the second.
    hash.update(`${entry.type}${key}\0${bytes.length}\0`);
    hash.update(bytes);
  }
  return hash.digest('hex');
}

/** Of a hash over one value, this many characters tell apart what people write; an annotation holds all keys' hashes. */
const KEY_HASH_LENGTH = 16;

/**
 * keyHashes is a short hash of every key's value, by `d/key` for text and `b/key` for binary values: what a three-way
 * compare has to know of the content that both sides last had.
 */
export function keyHashes(content: Content): Readonly<Record<string, string>> {
  return Object.fromEntries(sorted(content).map(([key, entry]) => [`${entry.type}/${key}`, entryHash(entry)]));
}

/** entryHash is the short hash of one value, as in `keyHashes`. */
export function entryHash(entry: Entry): string {
  return createHash('sha256').update(bytesOf(entry)).digest('hex').slice(0, KEY_HASH_LENGTH);
}

function bytesOf({ type, value }: Entry): Buffer {
  return Buffer.from(value, type === 'b' ? 'base64' : 'utf8');
}

function sorted(content: Content): (readonly [string, Entry])[] {
  const rank = ([key, { type }]: readonly [string, Entry]): string => `${type}/${key}`;
  return [...entriesOf(content)].sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
}
