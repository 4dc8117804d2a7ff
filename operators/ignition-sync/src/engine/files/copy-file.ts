import { rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createFile, openFile } from './write-durably.ts';

/** copyFile copies a file beside its target and renames the complete copy. It keeps the time of the file. */
export async function copyFile(from: string, to: string): Promise<void> {
  const partial = join(dirname(to), '.ignition-sync.partial');
  await rm(partial, { force: true });
  await using source = await openFile(from);
  const { mode, atime, mtime } = await source.stat();
  await using copy = await createFile(partial);
  await pipeline(source.createReadStream({ autoClose: false, start: 0 }), copy.createWriteStream({ autoClose: false }));
  await copy.chmod(mode & 0o777);
  await copy.utimes(atime, mtime);
  await copy.sync();
  await rename(partial, to);
}
