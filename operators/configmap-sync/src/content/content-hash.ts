import { hash } from 'node:crypto';
import { type Content, type Entry, entriesOf } from './content.ts';

/** contentHash is the hex SHA-256 over the sorted keys of some content with their bytes, binary values first; of no content too. */
export function contentHash({ data, binaryData }: Content): string {
  const binary = byKey(binaryData).flatMap(([key, value]) => {
    const bytes = Buffer.from(value, 'base64');
    return [Buffer.from(`b${heading(key, bytes.length)}`), bytes];
  });
  const text = byKey(data)
    .map(([key, value]) => `d${heading(key, Buffer.byteLength(value))}${value}`)
    .join('');
  // Every copy that is written or seen is hashed, and almost none holds bytes.
  return hash('sha256', binary.length === 0 ? text : Buffer.concat([...binary, Buffer.from(text)]), 'hex');
}

/** The length tells where a value ends: without it, two keys could hash like one that spells out the second. */
function heading(key: string, bytes: number): string {
  return `${key}\0${bytes}\0`;
}

/** Of a hash over one value, this many characters tell apart what people write; an annotation holds all keys' hashes. */
const KEY_HASH_LENGTH = 16;

/**
 * keyHashes is a short hash of every key's value, by `d/key` for text and `b/key` for binary values: what a three-way
 * compare has to know of the content that both sides last had.
 */
export function keyHashes(content: Content): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...entriesOf(content)].map(([key, entry]) => [`${entry.type}/${key}`, entryHash(entry)] as const).sort(byName),
  );
}

/** entryHash is the short hash of one value, as in `keyHashes`. */
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
