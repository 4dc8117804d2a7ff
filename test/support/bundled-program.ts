import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { bundle } from '../../scripts/bundle.mjs';
import { BUNDLES } from './bundle-folder.ts';

const POLL_INTERVAL_MS = 50;

/**
 * bundledProgram returns the path of a program, bundled as in a release: one file with chunks, so that anything missing
 * from the bundle is found. It starts several times faster than from source. The bundle is made once per test run, by the worker
 * that needs it first.
 *
 * @param entry relative to the repository
 */
export async function bundledProgram(entry: string): Promise<string> {
  const folder = join(process.env[BUNDLES] ?? '', entry.replaceAll('/', '-'));
  const lock = `${folder}.lock`;
  for (;;) {
    if (existsSync(folder)) return join(folder, 'bowline.js');
    if (await isCreated(lock)) break;
    await pause(POLL_INTERVAL_MS);
  }
  try {
    const unfinished = `${folder}.unfinished`;
    // Another worker may have finished between the two checks.
    if (!existsSync(folder)) {
      await bundle({ entry, folder: unfinished });
      await rename(unfinished, folder);
    }
    return join(folder, 'bowline.js');
  } finally {
    await rm(lock, { recursive: true });
  }
}

/** isCreated reports whether this call created the folder; only one caller can. */
async function isCreated(folder: string): Promise<boolean> {
  try {
    await mkdir(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
