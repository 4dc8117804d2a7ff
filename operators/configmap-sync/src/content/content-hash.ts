import { hash } from 'node:crypto';
import { type Content, type Entry, entriesOf } from './content.ts';

/**
 * contentHash returns the hex SHA-256 of the sorted keys of content with their bytes, binary values first. Empty
 * content has a hash too.
 */
export function contentHash({ data, binaryData }: Content): string {
  const binary = byKey(binaryData).flatMap(([key, value]) => {
    const bytes = Buffer.from(value, 'base64');
    return [Buffer.from(`b${heading(key, bytes.length)}`), bytes];
  });
  const text = byKey(data)
    .map(([key, value]) => `d${heading(key, Buffer.byteLength(value))}${value}`)
    .join('');
  // Every copy that is written or observed is hashed, and almost none has binary values.
  return hash('sha256', binary.length === 0 ? text : Buffer.concat([...binary, Buffer.from(text)]), 'hex');
}

/** The length marks the end of a value: without it, two keys could hash like one whose value spells out the second. */
function heading(key: string, bytes: number): string {
  return `${key}\0${bytes}\0`;
}

/**
 * This many characters of a hash distinguish the values that occur in practice; an annotation holds the hashes of all
 * keys.
 */
const KEY_HASH_LENGTH = 16;

/**
 * keyHashes returns a short hash of every key's value, by `d/key` for text and `b/key` for binary values: what a
 * three-way comparison needs to know of the content that both sides last had.
 */
export function keyHashes(content: Content): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...entriesOf(content)].map(([key, entry]) => [`${entry.type}/${key}`, entryHash(entry)] as const).sort(byName),
  );
}

/** entryHash returns the short hash of one value, as in `keyHashes`. */
export function entryHash(entry: Entry): string {
  return hash('sha256', bytesOf(entry), 'hex').slice(0, KEY_HASH_LENGTH);
}

function bytesOf({ type, value }: Entry): Buffer {
  return Buffer.from(value, type === 'b' ? 'base64' : 'utf8');
}

function byKey(values: Content['data']): readonly (readonly [string, string])[] {
  return Object.entries(values).sort(byName);
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}
