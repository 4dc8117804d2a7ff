import { readdir } from 'node:fs/promises';
import type { DataFolder } from '../../engine/files/data-folder.ts';
import type { FileStat } from '../../engine/files/file-stat.ts';
import { hasCode } from '../../engine/files/has-code.ts';
import { pathProblem } from '../../engine/tree/safe-path.ts';

/** LiveFile is a regular file below a watched path. */
export interface LiveFile extends FileStat {
  readonly isExecutable: boolean;
}

/** MAX_WATCHED is the maximum number of files below the watched paths: as many as a sync places. */
export const MAX_WATCHED = 50_000;

/** TooManyWatched reports that the watched paths contain too many files. */
export class TooManyWatched extends Error {
  override readonly name = 'TooManyWatched';
}

/**
 * walkPaths returns the regular files below some paths of the data folder, except the excluded ones. Links are not followed. A path
 * that does not exist, or disappears meanwhile, has no files.
 */
export async function walkPaths(
  folder: DataFolder,
  paths: readonly string[],
  isExcluded: (path: string) => boolean,
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, LiveFile>> {
  const files = new Map<string, LiveFile>();
  const left = paths.map((path) => path.replace(/\/+$/, ''));
  for (let path = left.pop(); path !== undefined; path = left.pop()) {
    signal?.throwIfAborted();
    if (isExcluded(path) || pathProblem(path) !== undefined) continue;
    const target = await folder.inspect(path);
    if (target.kind === 'file') {
      files.set(path, { ...target.stat, isExecutable: target.isExecutable });
      if (files.size > MAX_WATCHED) throw new TooManyWatched(`more than ${MAX_WATCHED} files are watched`);
    } else if (target.kind === 'folder') {
      for (const name of await namesIn(folder.absolute(path))) left.push(`${path}/${name}`);
    }
  }
  return files;
}

async function namesIn(path: string): Promise<readonly string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return [];
    throw error;
  }
}
