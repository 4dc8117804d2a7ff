import { rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createFile, openFile, writeAll } from './write-durably.ts';

const CHUNK_BYTES = 256 * 1024;

/** copyFile copies a file beside its target and renames the complete copy. It keeps the time and mode of the file. */
export async function copyFile(from: string, to: string): Promise<void> {
  const partial = join(dirname(to), '.ignition-sync.partial');
  await rm(partial, { force: true });
  await using source = await openFile(from);
  const { mode, atime, mtime } = await source.stat();
  await using copy = await createFile(partial);
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  for (;;) {
    const { bytesRead } = await source.read(chunk, 0, chunk.length, null);
    if (bytesRead === 0) break;
    await writeAll(copy, chunk.subarray(0, bytesRead));
  }
  await copy.chmod(mode & 0o777);
  await copy.utimes(atime, mtime);
  await copy.sync();
  await rename(partial, to);
}
