import { mkdir, readdir, rename, rm, rmdir, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { forEachConcurrently } from '@bowline/machinery';
import { copyFile } from '../files/copy-file.ts';
import type { DataFolder, LiveTarget } from '../files/data-folder.ts';
import { type FileStat, isSameStat } from '../files/file-stat.ts';
import { hasCode } from '../files/has-code.ts';
import { syncFolder } from '../files/write-durably.ts';
import type { Backups } from '../state/backups.ts';
import { type Journal, type Operation, removeJournal, stagingPath } from '../state/journal.ts';
import { manifestPath } from '../state/manifest.ts';
import { SyncError } from '../sync-error.ts';
import { checkTarget } from './compare.ts';
import { MAX_SYNCING, STAGED_MANIFEST } from './stage.ts';
import type { SyncStep } from './sync-request.ts';

/** ApplyOptions configures how a journal is applied. */
export interface ApplyOptions {
  readonly onStep: (step: SyncStep, path?: string) => void;
  readonly backups: Backups;
  /** Renames a file. Defaults to that of the system. */
  readonly move?: ((from: string, to: string) => Promise<void>) | undefined;
}

/**
 * applyJournal does the operations of a journal, makes them durable, and removes the journal. It may be repeated at any point: an
 * operation that was done before does nothing. If one fails, the journal stays, and the error names the path.
 */
export async function applyJournal(folder: DataFolder, journal: Journal, options: ApplyOptions): Promise<void> {
  const { onStep, backups } = options;
  const staged = new Set(await listStaged(stagingPath(folder, journal.id)));
  const applier = new Applier(folder, journal, staged, options);
  for (const operation of journal.operations) await applier.backUp(operation);
  await applier.named('.ignition-sync/replaced', () => backups.sync());
  for (const operation of journal.operations) await applier.apply(operation);
  await applier.sync();
  onStep('manifest');
  await applier.named('.ignition-sync/manifest.json', async () => {
    if (staged.has(STAGED_MANIFEST))
      await rename(join(stagingPath(folder, journal.id), STAGED_MANIFEST), manifestPath(folder));
    await syncFolder(folder.state);
  });
  onStep('finish');
  await applier.named('.ignition-sync/journal.json', () => removeJournal(folder));
  onStep('finish', journal.id);
  await rm(stagingPath(folder, journal.id), { recursive: true, force: true });
}

/** A staged file that no longer exists has been placed before. */
async function listStaged(path: string): Promise<readonly string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

class Applier {
  readonly #folder: DataFolder;
  /** The names of the files that are not placed yet. */
  readonly #staged: ReadonlySet<string>;
  /** Checked folders, for backups only: before a change, every folder is checked again. */
  readonly #checked = new Map<string, LiveTarget>();
  readonly #staging: string;
  readonly #options: ApplyOptions;
  /** Folders whose entries changed. */
  readonly #touched = new Set<string>();

  constructor(folder: DataFolder, { id }: Journal, staged: ReadonlySet<string>, options: ApplyOptions) {
    this.#folder = folder;
    this.#staged = staged;
    this.#staging = stagingPath(folder, id);
    this.#options = options;
  }

  async backUp(operation: Operation): Promise<void> {
    if (operation.action === 'delete-folder') return;
    const { path, expected } = operation;
    await this.named(path, async () => {
      // A file that was placed before the agent was killed is ours.
      if (operation.action === 'place' && !this.#staged.has(operation.staged)) return;
      const live = await this.#folder.inspect(path, this.#checked);
      if (live.kind !== 'file' || isExpected(live.stat, expected)) return;
      this.#options.onStep('backup', path);
      await this.#options.backups.keep(path);
    });
  }

  async apply(operation: Operation): Promise<void> {
    const { action, path } = operation;
    this.#options.onStep(action === 'place' ? 'place' : 'delete', path);
    await this.named(path, async () => {
      if (action === 'place') await this.#place(operation);
      else if (action === 'delete') await this.#delete(operation);
      else await this.#deleteFolder(path);
    });
  }

  /** sync makes the changes to the live folders durable. */
  async sync(): Promise<void> {
    const [failure] = await forEachConcurrently(this.#touched, MAX_SYNCING, (path) =>
      this.named(path, () => syncFolder(path)),
    );
    if (failure !== undefined) throw failure.error;
  }

  /** named names the path in the error of an operation. */
  async named(path: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      throw new SyncError('ApplyFailed', {
        path,
        problem: `the file cannot be changed: ${error instanceof Error ? error.message : String(error)}`,
        remedy: 'make it writable for the agent; the sync is finished before the next one starts',
        cause: error,
      });
    }
  }

  async #place({ path, staged, expected }: Extract<Operation, { action: 'place' }>): Promise<void> {
    if (!this.#staged.has(staged)) return;
    const live = await this.#folder.inspect(path);
    checkTarget(path, live);
    if (live.kind === 'missing' && live.missingFolder !== undefined) await this.#createFolders(dirname(path));
    // The gateway may have written the file after it was compared.
    if (live.kind === 'file' && !isExpected(live.stat, expected)) await this.#options.backups.keep(path);
    await this.#move(join(this.#staging, staged), this.#folder.absolute(path));
    this.#touch(path);
  }

  async #move(from: string, to: string): Promise<void> {
    const { move = rename } = this.#options;
    try {
      await move(from, to);
    } catch (error) {
      if (!hasCode(error, 'EXDEV')) throw error;
      // A part of the data folder is another file system.
      await copyFile(from, to);
    }
  }

  async #delete({ path, expected }: Extract<Operation, { action: 'delete' }>): Promise<void> {
    const live = await this.#folder.inspect(path);
    if (live.kind !== 'file') return;
    if (!isExpected(live.stat, expected)) await this.#options.backups.keep(path);
    await unlink(this.#folder.absolute(path));
    this.#touch(path);
  }

  async #deleteFolder(path: string): Promise<void> {
    if ((await this.#folder.inspect(path)).kind !== 'folder') return;
    try {
      await rmdir(this.#folder.absolute(path));
      this.#touch(path);
    } catch (error) {
      // Files of the gateway stay.
      if (!hasCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR')) throw error;
    }
  }

  /** Creates the folders of a path, one by one, so that none is created behind a link. */
  async #createFolders(path: string): Promise<void> {
    if (path === '.') return;
    const live = await this.#folder.inspect(path);
    if (live.kind === 'folder') return;
    checkTarget(path, live);
    await this.#createFolders(dirname(path));
    try {
      await mkdir(this.#folder.absolute(path), { mode: 0o755 });
    } catch (error) {
      if (!hasCode(error, 'EEXIST') || (await this.#folder.inspect(path)).kind !== 'folder') throw error;
    }
    this.#touch(path);
  }

  #touch(path: string): void {
    this.#touched.add(dirname(this.#folder.absolute(path)));
  }
}

function isExpected(live: FileStat, expected: FileStat | undefined): boolean {
  return expected !== undefined && isSameStat(live, expected);
}
