import { crc32 } from 'node:zlib';

/**
 * JournalRecord is one line of a journal's file: a state of an object, the removal of one, or the first or last line of
 * a file.
 */
export type JournalRecord =
  | { readonly type: 'put'; readonly revision: number; readonly collection: string; readonly key: string; json: string }
  | { readonly type: 'remove'; readonly revision: number; readonly collection: string; readonly key: string }
  /** The first line of a file: the revision that it continues from. */
  | { readonly type: 'begin'; readonly version: number; readonly revision: number }
  /** The last line of a complete snapshot. */
  | { readonly type: 'end'; readonly count: number };

/** FORMAT_VERSION is the version that this code writes; files of a later version are rejected. */
export const FORMAT_VERSION = 1;

const TAB = 0x09;
const CHECKSUM_DIGITS = 8;

/**
 * writeRecord returns the line of a record, with its terminator: the checksum of what follows, a head, and the
 * unchanged text of an object. JSON contains no unescaped tabs or line breaks, so both are separators.
 */
export function writeRecord(record: JournalRecord): Buffer {
  const rest = `${JSON.stringify(headOf(record))}\t${record.type === 'put' ? record.json : ''}`;
  const line = Buffer.from(`${'0'.repeat(CHECKSUM_DIGITS)}\t${rest}\n`);
  const checksum = crc32(line.subarray(CHECKSUM_DIGITS + 1, -1));
  line.write(checksum.toString(16).padStart(CHECKSUM_DIGITS, '0'), 0, 'latin1');
  return line;
}

/** readRecord parses a line without its terminator; it returns undefined if the line is damaged. */
export function readRecord(line: Buffer): JournalRecord | undefined {
  if (line[CHECKSUM_DIGITS] !== TAB) return undefined;
  const rest = line.subarray(CHECKSUM_DIGITS + 1);
  if (Number.parseInt(line.toString('latin1', 0, CHECKSUM_DIGITS), 16) !== crc32(rest)) return undefined;
  const tab = rest.indexOf(TAB);
  try {
    return recordOf(JSON.parse(rest.toString('utf8', 0, tab)), rest.toString('utf8', tab + 1));
  } catch {
    return undefined;
  }
}

function headOf(record: JournalRecord): unknown {
  switch (record.type) {
    case 'put':
    case 'remove':
      return [record.revision, record.collection, record.key];
    case 'begin':
      return { begin: record.version, revision: record.revision };
    case 'end':
      return { end: record.count };
  }
}

function recordOf(head: unknown, json: string): JournalRecord | undefined {
  if (Array.isArray(head)) {
    const [revision, collection, key] = head as unknown[];
    if (typeof revision !== 'number' || typeof collection !== 'string' || typeof key !== 'string') return undefined;
    if (json === '') return { type: 'remove', revision, collection, key };
    return { type: 'put', revision, collection, key, json };
  }
  const { begin, end, revision } = head as { begin?: unknown; end?: unknown; revision?: unknown };
  if (typeof begin === 'number' && typeof revision === 'number') return { type: 'begin', version: begin, revision };
  return typeof end === 'number' ? { type: 'end', count: end } : undefined;
}
