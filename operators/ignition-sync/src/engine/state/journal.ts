import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject } from '@bowline/machinery';
import type { DataFolder } from '../files/data-folder.ts';
import type { FileStat } from '../files/file-stat.ts';
import { hasCode } from '../files/has-code.ts';
import { syncFolder, writeDurably } from '../files/write-durably.ts';
import { isManagedPath, isText, parseObject } from './manifest.ts';

/** Operation is one change to the live files. Every operation may be repeated. */
export type Operation =
  | {
      readonly action: 'place';
      readonly path: string;
      /** The name of the staged file. */
      readonly staged: string;
      /** The live file that we placed, which needs no backup. Any other file is backed up. */
      readonly expected?: FileStat | undefined;
    }
  | { readonly action: 'delete'; readonly path: string; readonly expected?: FileStat | undefined }
  /** Removes a folder if it is empty. */
  | { readonly action: 'delete-folder'; readonly path: string };

/** Journal lists the operations of a sync that is staged completely. Once it exists, the sync is finished. */
export interface Journal {
  readonly id: string;
  readonly commit: string;
  readonly ref: string;
  readonly settingsHash: string;
  /** The name of the folder for backups. */
  readonly backup: string;
  /** In the order in which they are done. */
  readonly operations: readonly Operation[];
}

const SCHEMA = 1;
const ID = /^[0-9a-f]{1,32}$/;
const BACKUP = /^[0-9TZ-]{1,40}$/;
const STAGED = /^\d{1,9}$/;

/** journalPath returns where the journal of a data folder is. */
export function journalPath(folder: DataFolder): string {
  return join(folder.state, 'journal.json');
}

/** stagingPath returns the folder of the staged files of a sync. */
export function stagingPath(folder: DataFolder, id: string): string {
  return join(folder.state, 'staging', id);
}

/** readJournal returns the complete journal of a data folder, or undefined. */
export async function readJournal(folder: DataFolder): Promise<Journal | undefined> {
  try {
    return parseJournal(await readFile(journalPath(folder), 'utf8'));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** writeJournal makes a journal durable. From here on, the result is the new state. */
export async function writeJournal(folder: DataFolder, journal: Journal): Promise<void> {
  await writeDurably(journalPath(folder), `${JSON.stringify({ schema: SCHEMA, ...journal })}\n`);
}

/** removeJournal removes the journal before the staged files, which are of no use without it. */
export async function removeJournal(folder: DataFolder): Promise<void> {
  await rm(journalPath(folder), { force: true });
  await syncFolder(folder.state);
}

/** parseJournal parses the text of a journal. It returns undefined if any part is damaged. */
export function parseJournal(text: string): Journal | undefined {
  const value = parseObject(text);
  if (value?.schema !== SCHEMA) return undefined;
  const { id, commit, ref, settingsHash, backup, operations } = value;
  if (!isText(id) || !ID.test(id) || !isText(backup) || !BACKUP.test(backup)) return undefined;
  if (!isText(commit) || !isText(ref) || !isText(settingsHash)) return undefined;
  if (!Array.isArray(operations) || !operations.every(isOperation)) return undefined;
  return { id, commit, ref, settingsHash, backup, operations };
}

function isOperation(value: unknown): value is Operation {
  if (!isObject(value) || !isManagedPath(value.path)) return false;
  const { action, staged, expected } = value;
  if (expected !== undefined && !isStat(expected)) return false;
  if (action === 'place') return isText(staged) && STAGED.test(staged);
  return action === 'delete' || action === 'delete-folder';
}

function isStat(value: unknown): boolean {
  return isObject(value) && typeof value.size === 'number' && isText(value.mtime) && isText(value.inode);
}
