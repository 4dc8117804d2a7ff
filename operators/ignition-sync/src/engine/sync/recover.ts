import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataFolder } from '../files/data-folder.ts';
import { statOf } from '../files/file-stat.ts';
import { type BackupLimits, Backups } from '../state/backups.ts';
import { journalPath, readJournal } from '../state/journal.ts';
import { type ApplyOptions, applyJournal } from './apply.ts';

/** Recovery is what was found of an earlier sync. */
export interface Recovery {
  /**
   * `finished`: its journal was complete and has been applied; `discarded`: it had not changed a live file, and what it staged
   * was removed; `damaged`: its journal could not be read and was removed.
   */
  readonly outcome: 'none' | 'finished' | 'discarded' | 'damaged';
  /** How many files were backed up, and how many did not fit. */
  readonly backups: { readonly kept: number; readonly notKept: number };
}

/** RecoverOptions configures a recovery. */
export interface RecoverOptions extends Omit<ApplyOptions, 'backups'> {
  readonly backupLimits?: BackupLimits | undefined;
}

/** Files that are written by one call and renamed or removed by it. */
const LEFT_BEHIND = /^(?:lock\.[0-9a-f]+|probe-.*|.*\.tmp)$/;

/** recover finishes the sync of a complete journal, and removes what any other sync left behind. */
export async function recover(folder: DataFolder, { backupLimits, ...options }: RecoverOptions): Promise<Recovery> {
  const journal = await readJournal(folder);
  if (journal !== undefined) {
    const backups = new Backups(folder, journal.backup, backupLimits);
    await applyJournal(folder, journal, { ...options, backups });
    await removeLeftBehind(folder);
    return { outcome: 'finished', backups: { kept: backups.kept, notKept: backups.notKept } };
  }
  const isDamaged = (await statOf(journalPath(folder))) !== undefined;
  await rm(journalPath(folder), { force: true });
  const isDiscarded = await removeLeftBehind(folder);
  const outcome = isDamaged ? 'damaged' : isDiscarded ? 'discarded' : 'none';
  return { outcome, backups: { kept: 0, notKept: 0 } };
}

async function removeLeftBehind({ state }: DataFolder): Promise<boolean> {
  const staged = await readdir(join(state, 'staging'));
  for (const name of staged) await rm(join(state, 'staging', name), { recursive: true, force: true });
  for (const name of await readdir(state)) if (LEFT_BEHIND.test(name)) await rm(join(state, name), { force: true });
  return staged.length > 0;
}
