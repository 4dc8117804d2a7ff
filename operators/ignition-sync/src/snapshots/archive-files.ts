import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { createFile, openFile, writeAll } from '../engine/files/write-durably.ts';
import { CONTENT_NAME, FILES_PREFIX, formatContent, type SnapshotContent } from './snapshot-content.ts';
import type { StoredArchive } from './snapshot-store.ts';
import { type TarFile, writeTar } from './write-tar.ts';

/** Fast: the files are mostly small JSON, and the gateway waits. */
const LEVEL = 3;

/**
 * archiveFiles writes a compressed archive of live files, and makes it durable. `absolute` returns where a path is. Memory does not
 * depend on the size of the files.
 */
export async function archiveFiles(
  target: string,
  content: SnapshotContent,
  absolute: (path: string) => string,
  signal: AbortSignal,
): Promise<StoredArchive> {
  await rm(target, { force: true });
  const hash = createHash('sha256');
  let size = 0;
  const gzip = Readable.from(writeTar(tarFiles(content, absolute, signal))).compose(createGzip({ level: LEVEL }));
  await using file = await createFile(target, 0o600);
  for await (const chunk of gzip as AsyncIterable<Buffer>) {
    hash.update(chunk);
    size += chunk.length;
    await writeAll(file, chunk);
  }
  await file.sync();
  return { path: target, size, checksum: hash.digest('hex') };
}

async function* tarFiles(
  content: SnapshotContent,
  absolute: (path: string) => string,
  signal: AbortSignal,
): AsyncGenerator<TarFile> {
  const text = Buffer.from(formatContent(content));
  yield { path: CONTENT_NAME, size: text.length, mode: 0o644, content: [text] };
  for (const path of content.files) {
    signal.throwIfAborted();
    // It never follows a link.
    await using file = await openFile(absolute(path));
    const stats = await file.stat();
    if (!stats.isFile()) throw new Error(`${path} is not a file any more`);
    const mode = (stats.mode & 0o111) === 0 ? 0o644 : 0o755;
    const chunks = file.createReadStream({ autoClose: false });
    yield { path: `${FILES_PREFIX}${path}`, size: stats.size, mode, content: chunks as AsyncIterable<Uint8Array> };
  }
}
