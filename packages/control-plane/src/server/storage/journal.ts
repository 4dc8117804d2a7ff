import { chmodSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Change } from './history.ts';
import { AppendFile } from './journal-file.ts';
import { journalFiles, logName, partName, snapshotName } from './journal-files.ts';
import { FORMAT_VERSION, writeRecord } from './journal-record.ts';
import { type JournalState, type Live, restoreJournal } from './restore-journal.ts';
import { SnapshotWriter } from './snapshot-writer.ts';
import type { Journal, StorageOptions } from './storage.ts';
import type { Stored } from './stored.ts';

/** OpenJournal is a journal that is being written. */
export interface OpenJournal extends Disposable {
  /** The objects that were stored before; undefined in a new folder. */
  readonly restored: StorageOptions['restored'];
  readonly journal: Journal;
  /** close stops writing; nothing is lost without it. */
  close(): void;
}

/** A log smaller than this is not worth replacing. */
const MIN_LOG_BYTES = 16 * 1024;
/**
 * How much of a snapshot is written along with one change: enough that a snapshot is complete long before the log after
 * it has the same size, and little enough that no writer waits for more than a fraction of a millisecond.
 */
const SLICE_BYTES = 64 * 1024;

/**
 * openJournal stores writes in a folder, which only one process at a time may use: the caller must hold a lock.
 *
 * Every change is a line of a log. When the log is as large as the live objects, a new log starts, and a snapshot of
 * the objects that were live at that moment is written beside it, piece by piece; once that is complete, everything
 * older is removed. A folder is therefore at most about three times as large as the live objects. A line survives the
 * end of the process, but not of the machine: nothing is synced.
 */
export function openJournal(folder: string): OpenJournal {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Also if the folder existed before: it contains Secrets.
  chmodSync(folder, 0o700);
  const state = restoreJournal(folder);
  const writer = new JournalWriter(folder, state);
  const close = (): void => writer.close();
  const restored = state.revision === 0 ? undefined : { revision: state.revision, objects: objectsIn(state.live) };
  return { restored, journal: writer, close, [Symbol.dispose]: close };
}

class JournalWriter implements Journal {
  readonly #folder: string;
  readonly #live: Live;
  /** The size of the texts of live objects. */
  #liveBytes = 0;
  /** The size of the logs before the current one, since the last complete snapshot. */
  #olderLogBytes: number;
  #generation: number;
  #revision: number;
  #log: AppendFile;
  #snapshot: SnapshotWriter | undefined;
  #isClosed = false;

  constructor(folder: string, { generation, revision, lastLogBytes, logBytes, live }: JournalState) {
    this.#folder = folder;
    this.#live = live;
    for (const [, stored] of objectsIn(live)) this.#liveBytes += stored.json.length;
    this.#olderLogBytes = logBytes - lastLogBytes;
    this.#revision = revision;
    this.#generation = Math.max(generation, 1);
    this.#log = this.#openLog(this.#generation, lastLogBytes);
  }

  record(change: Change): void {
    const { revision, collection, key, previous, current } = change;
    // First, because nothing may fail after the line is written: the change would be restored although it was refused.
    this.#tidy();
    this.#log.append(
      writeRecord(
        current
          ? { type: 'put', revision, collection, key, json: current.json }
          : { type: 'remove', revision, collection, key },
      ),
    );
    this.#revision = revision;
    this.#liveBytes += (current?.json.length ?? 0) - (previous?.json.length ?? 0);
    const objects = this.#live.get(collection) ?? new Map<string, Stored>();
    this.#live.set(collection, objects);
    if (current) objects.set(key, current);
    else objects.delete(key);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#snapshot?.close();
    this.#log.close();
  }

  /** Writes a piece of the unfinished snapshot, or starts one when the log has grown enough. */
  #tidy(): void {
    if (this.#snapshot) {
      if (!this.#snapshot.write(SLICE_BYTES)) return;
      this.#snapshot = undefined;
      this.#olderLogBytes = 0;
      removeOlder(this.#folder, this.#generation);
    } else if (this.#olderLogBytes + this.#log.size > Math.max(MIN_LOG_BYTES, this.#liveBytes)) {
      const next = this.#openLog(this.#generation + 1, 0);
      this.#olderLogBytes += this.#log.size;
      this.#log.close();
      this.#log = next;
      this.#generation++;
      this.#snapshot = new SnapshotWriter(this.#folder, this.#generation, this.#revision, [...objectsIn(this.#live)]);
    }
  }

  #openLog(generation: number, size: number): AppendFile {
    const log = new AppendFile(join(this.#folder, logName(generation)), size);
    if (size > 0) return log;
    try {
      log.append(writeRecord({ type: 'begin', version: FORMAT_VERSION, revision: this.#revision }));
      return log;
    } catch (error) {
      log.close();
      throw error;
    }
  }
}

/** removeOlder removes the files that a complete snapshot replaces. */
function removeOlder(folder: string, generation: number): void {
  const { snapshots, logs, parts } = journalFiles(readdirSync(folder));
  const isOlder = (each: number): boolean => each < generation;
  // Logs last: without them an older snapshot would count as damaged, if the process ended in between and the newer one
  // were lost.
  for (const name of [
    ...parts.filter(isOlder).map(partName),
    ...snapshots.filter(isOlder).map(snapshotName),
    ...logs.filter(isOlder).map(logName),
  ])
    rmSync(join(folder, name), { force: true });
}

function* objectsIn(live: Live): Generator<readonly [collection: string, Stored]> {
  for (const [collection, objects] of live) for (const stored of objects.values()) yield [collection, stored];
}
