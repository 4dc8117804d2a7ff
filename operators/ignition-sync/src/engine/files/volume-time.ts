import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataFolder } from './data-folder.ts';
import { createFile } from './write-durably.ts';

/**
 * volumeTime returns the time that the file system of a data folder gives to a file that is written now, in nanoseconds since the
 * epoch. It may differ from the clock of this machine, and it advances in ticks of a few milliseconds.
 */
export async function volumeTime({ state }: DataFolder): Promise<bigint> {
  const path = join(state, `probe-time-${randomBytes(6).toString('hex')}`);
  try {
    await using file = await createFile(path);
    return (await file.stat({ bigint: true })).mtimeNs;
  } finally {
    await rm(path, { force: true });
  }
}
