import { constants } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { hasCode } from './has-code.ts';

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;

/** createFile opens a new file for writing. It never follows a link and never opens a file that exists. */
export function createFile(path: string, mode = 0o644): Promise<FileHandle> {
  return open(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, mode);
}

/** openFile opens a file for reading. It never follows a link. */
export function openFile(path: string): Promise<FileHandle> {
  return open(path, O_RDONLY | O_NOFOLLOW);
}

/** writeAll appends a chunk to a file. */
export async function writeAll(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let written = 0; written < chunk.length; ) {
    const { bytesWritten } = await file.write(chunk, written);
    written += bytesWritten;
  }
}

/** syncFolder makes the entries of a folder durable. A folder that no longer exists has none. */
export async function syncFolder(path: string): Promise<void> {
  try {
    await using folder = await open(path, O_RDONLY | O_DIRECTORY);
    await folder.sync();
  } catch (error) {
    // Some network file systems cannot sync a folder; their renames are synchronous.
    if (!hasCode(error, 'ENOENT', 'ENOTDIR', 'EINVAL', 'ENOTSUP')) throw error;
  }
}

/** writeDurably replaces a file at once: a reader, also after a crash, finds the old content or the new one. */
export async function writeDurably(path: string, content: string): Promise<void> {
  const temporary = `${path}.tmp`;
  await rm(temporary, { force: true });
  {
    await using file = await createFile(temporary);
    await file.writeFile(content);
    await file.sync();
  }
  await rename(temporary, path);
  await syncFolder(dirname(path));
}
