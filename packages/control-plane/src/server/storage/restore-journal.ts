import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { BowlineError } from '@bowline/machinery';
import { readLines } from './journal-file.ts';
import { journalFiles, logName, snapshotName } from './journal-files.ts';
import { FORMAT_VERSION, type JournalRecord, readRecord } from './journal-record.ts';
import { type Stored, storedAs } from './stored.ts';

/** Live holds the current state of every object, by collection and key. */
export type Live = Map<string, Map<string, Stored>>;

/** JournalState is the state from which a journal continues. */
export interface JournalState {
  /** The number of the current log; 0 if there is none. */
  readonly generation: number;
  readonly revision: number;
  /** How many bytes of that log are valid. */
  readonly lastLogBytes: number;
  /** The size of all logs since the snapshot. */
  readonly logBytes: number;
  readonly live: Live;
}

/** Texts holds the latest records of objects: most are replaced by a later one, so they are not parsed yet. */
type Texts = Map<string, Map<string, { readonly revision: number; readonly json: string }>>;

/**
 * restoreJournal reads a folder: the newest complete snapshot and the logs since. The last line of the last log may be
 * torn, because its writer died before the change was acknowledged. Any other damage is an error.
 */
export function restoreJournal(folder: string): JournalState {
  const { snapshots, logs } = journalFiles(readdirSync(folder));
  const base = snapshots.at(-1) ?? 0;
  const texts: Texts = new Map();
  let revision = base === 0 ? 0 : readSnapshot(join(folder, snapshotName(base)), texts);
  let logBytes = 0;
  let lastLogBytes = 0;
  // A snapshot is written beside the log of its generation; the first log has no snapshot.
  let generation = Math.max(base, 1) - 1;
  const newest = Math.max(base, logs.at(-1) ?? 0);
  while (generation < newest) {
    const path = join(folder, logName(++generation));
    if (!logs.includes(generation)) throw damaged(path, 'the file is missing');
    const log = readLog(path, texts, revision, generation === newest);
    revision = log.revision;
    lastLogBytes = log.bytes;
    logBytes += log.bytes;
  }
  return { generation, revision, lastLogBytes, logBytes, live: liveOf(texts) };
}

/** Reads a snapshot, and returns its revision. */
function readSnapshot(path: string, texts: Texts): number {
  let revision = 0;
  let count = 0;
  let isComplete = false;
  for (const { record, number } of recordsIn(path)) {
    if (number === 1) revision = beginOf(path, record);
    else if (record?.type === 'put' && !isComplete && record.revision <= revision) {
      put(texts, record);
      count++;
    } else if (record?.type === 'end' && !isComplete && record.count === count) isComplete = true;
    else throw damaged(path, `line ${number} is corrupted`);
  }
  if (!isComplete) throw damaged(path, 'the end record is missing');
  return revision;
}

function readLog(
  path: string,
  texts: Texts,
  since: number,
  isLast: boolean,
): { readonly revision: number; readonly bytes: number } {
  let revision = since;
  let bytes = 0;
  for (const { record, number, next, isTorn } of recordsIn(path)) {
    if (isTorn && isLast) break;
    if (number === 1) {
      if (beginOf(path, record) !== since)
        throw damaged(path, 'it does not continue from the preceding snapshot or log');
    } else if ((record?.type !== 'put' && record?.type !== 'remove') || record.revision <= revision) {
      throw damaged(path, `line ${number} is corrupted`);
    } else {
      revision = record.revision;
      put(texts, record);
    }
    bytes = next;
  }
  // The last log may have been created without a first line; every other one has content.
  if (bytes === 0 && !isLast) throw damaged(path, 'the file is empty');
  return { revision, bytes };
}

interface ReadRecord {
  readonly record: JournalRecord | undefined;
  /** The number of the line, from 1. */
  readonly number: number;
  /** The offset of the next line. */
  readonly next: number;
  readonly isTorn: boolean;
}

function* recordsIn(path: string): Generator<ReadRecord> {
  let number = 0;
  for (const { bytes, next, isTorn } of readLines(path)) {
    yield { record: isTorn ? undefined : readRecord(bytes), number: ++number, next, isTorn };
  }
}

function beginOf(path: string, record: JournalRecord | undefined): number {
  if (record?.type !== 'begin') throw damaged(path, 'the header line is corrupted');
  if (record.version > FORMAT_VERSION) {
    throw new BowlineError(
      'BOWLINE_JOURNAL_FORMAT',
      `cannot read ${path}: it was written by a later version of Bowline (format ${record.version}; this version supports up to format ${FORMAT_VERSION}); use that version or another data directory`,
    );
  }
  return record.revision;
}

function put(texts: Texts, record: JournalRecord & { readonly type: 'put' | 'remove' }): void {
  const { collection, key, revision } = record;
  const objects = texts.get(collection) ?? new Map<string, { revision: number; json: string }>();
  texts.set(collection, objects);
  if (record.type === 'put') objects.set(key, { revision, json: record.json });
  else objects.delete(key);
}

function liveOf(texts: Texts): Live {
  const live: Live = new Map();
  for (const [collection, objects] of texts) {
    const stored = new Map<string, Stored>();
    for (const [key, { revision, json }] of objects) stored.set(key, storedAs(key, revision, json));
    live.set(collection, stored);
  }
  return live;
}

function damaged(path: string, how: string): BowlineError {
  return new BowlineError(
    'BOWLINE_JOURNAL_DAMAGED',
    `cannot restore the control plane from ${path}: ${how}; restore the folder from a backup, or move it away to start with an empty control plane`,
  );
}
