import { randomBytes } from 'node:crypto';
import { type FileHandle, link, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, systemClock, type Timer } from '@bowline/machinery';
import type { DataFolder } from '../files/data-folder.ts';
import { statOf } from '../files/file-stat.ts';
import { hasCode } from '../files/has-code.ts';
import { createFile } from '../files/write-durably.ts';
import { SyncError } from '../sync-error.ts';
import { isText, parseObject } from './manifest.ts';

/** FolderLockOptions configures the lock of a data folder. */
export interface FolderLockOptions {
  /** Identifies the pod. A lock of the same pod was left by a process that no longer runs. */
  readonly holder: string;
  /** Defaults to the system clock. */
  readonly clock?: Clock | undefined;
}

/** The holder touches its lock this often. */
const TOUCH_MS = 10_000;
/** A lock that was not touched for this long is taken over. */
const STALE_MS = 60_000;
/** Each attempt is lost only to another agent that acts at the same time. */
const MAX_ATTEMPTS = 5;

/** FolderLock is held by the one agent that may change a data folder. */
export class FolderLock implements AsyncDisposable {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #content: string;
  /** Touching the file by this handle never touches the lock of another agent. */
  readonly #file: FileHandle;
  #timer: Timer | undefined;
  #touched: Promise<void> = Promise.resolve();

  private constructor(path: string, content: string, file: FileHandle, clock: Clock) {
    this.#path = path;
    this.#content = content;
    this.#file = file;
    this.#clock = clock;
    this.#schedule();
  }

  /** acquire takes the lock of a data folder, or throws DataFolderBusy with its holder. */
  static async acquire(folder: DataFolder, options: FolderLockOptions): Promise<FolderLock> {
    const { holder, clock = systemClock } = options;
    const path = join(folder.state, 'lock');
    const content = JSON.stringify({ holder, id: randomBytes(8).toString('hex') });
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const file = await create(path, content);
      if (file !== undefined) return new FolderLock(path, content, file, clock);
      const found = await readLock(path);
      if (found === undefined) continue;
      const isFree = found.holder === holder || (await isStale(path));
      if (!isFree) throw busy(found.holder);
      await removeLock(path, found.content);
    }
    throw busy('another agent');
  }

  /** check throws DataFolderBusy if another agent has taken the lock over: this one was stopped for too long. */
  async check(): Promise<void> {
    const found = await readLock(this.#path);
    if (found?.content !== this.#content) throw busy(found?.holder ?? 'another agent');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    await this.#touched;
    await this.#file.close();
    const found = await readLock(this.#path);
    if (found?.content === this.#content) await removeLock(this.#path, this.#content);
  }

  #schedule(): void {
    this.#timer = this.#clock.setTimer(TOUCH_MS, () => {
      this.#touched = this.#touch();
    });
  }

  /** Writes the same content, so that the file system of the volume sets the time: the clocks of two machines differ. */
  async #touch(): Promise<void> {
    // A lock that cannot be touched is noticed by the next check.
    await this.#file.write(this.#content, 0).catch(() => undefined);
    if (this.#timer !== undefined) this.#schedule();
  }
}

/** The content is complete as soon as the file exists. */
async function create(path: string, content: string): Promise<FileHandle | undefined> {
  const own = `${path}.${randomBytes(6).toString('hex')}`;
  const file = await createFile(own);
  try {
    await file.write(content, 0);
    await link(own, path);
    return file;
  } catch (error) {
    await file.close();
    // ENOENT: the holder has removed what looked like a file left by a dead process.
    if (hasCode(error, 'EEXIST', 'ENOENT')) return undefined;
    throw error;
  } finally {
    await rm(own, { force: true });
  }
}

async function readLock(path: string): Promise<{ readonly content: string; readonly holder: string } | undefined> {
  try {
    const content = await readFile(path, 'utf8');
    const holder = parseObject(content)?.holder;
    return { content, holder: isText(holder) ? holder : 'an unknown agent' };
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Compares with a file that is created now on the same volume: the clocks of the two machines may differ. */
async function isStale(path: string): Promise<boolean> {
  const probe = `${path}.${randomBytes(6).toString('hex')}`;
  await (await createFile(probe)).close();
  try {
    const [now, then] = [await statOf(probe), await statOf(path)];
    return now !== undefined && then !== undefined && Number(now.mtimeMs - then.mtimeMs) >= STALE_MS;
  } finally {
    await rm(probe, { force: true });
  }
}

/** The file is renamed first, so that only one agent gets it; if it is another one meanwhile, it is restored. */
async function removeLock(path: string, expected: string): Promise<void> {
  const aside = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    await rename(path, aside);
    if ((await readFile(aside, 'utf8')) !== expected) await link(aside, path);
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'EEXIST')) throw error;
  }
  await rm(aside, { force: true });
}

function busy(holder: string): SyncError {
  return new SyncError('DataFolderBusy', {
    path: '.ignition-sync/lock',
    problem: `the data folder is used by ${holder}`,
    remedy: `wait until that agent ends; its lock expires ${STALE_MS / 1000} s after it stopped`,
  });
}
