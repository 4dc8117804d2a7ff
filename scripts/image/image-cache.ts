import { mkdir, readdir, rm, stat, utimes } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** imageCache returns a folder for downloads and layers, outside the work tree, and creates it. */
export async function imageCache(...names: readonly string[]): Promise<string> {
  const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'bowline', 'image', ...names);
  await mkdir(folder, { recursive: true });
  return folder;
}

/** Files and folders that were not used for this long are removed. */
const MAX_AGE_MS = 30 * 24 * 3_600_000;

/** markUsed records that a file or folder of the cache is in use. */
export async function markUsed(path: string): Promise<void> {
  const now = new Date();
  await utimes(path, now, now);
}

/** removeUnused removes what was not used for a month: layers and packages of former commits. */
export async function removeUnused(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
    if (Date.now() - mtimeMs > MAX_AGE_MS) await rm(path, { recursive: true, force: true });
  }
}
