import { blobHash } from '../tree/blob-id.ts';
import { openFile } from './write-durably.ts';

/** Large enough to be fast, small enough to be allocated for every file. */
const CHUNK_BYTES = 256 * 1024;

/** FileHash is the content of a file, reduced. */
export interface FileHash {
  /** The id that git gives the content. */
  readonly blob: string;
  /** The content, if the file has at most `keepBytes`. */
  readonly content?: Buffer;
}

/** HashOptions configures how a file is hashed. */
export interface HashOptions {
  /** Defaults to sha1. */
  readonly algorithm?: 'sha1' | 'sha256' | undefined;
  /** The content of a file of at most this size is returned, too. Defaults to 0: none. */
  readonly keepBytes?: number | undefined;
}

/** hashFile returns the blob id of a file's content. It returns undefined if the file changes while it is read. */
export async function hashFile(path: string, options: HashOptions = {}): Promise<FileHash | undefined> {
  const { algorithm = 'sha1', keepBytes = 0 } = options;
  await using file = await openFile(path);
  const { size } = await file.stat();
  const hash = blobHash(size, algorithm);
  const chunk = Buffer.allocUnsafe(Math.max(1, Math.min(size + 1, CHUNK_BYTES)));
  const kept: Buffer[] = [];
  let total = 0;
  for (;;) {
    const { bytesRead } = await file.read(chunk, 0, chunk.length, null);
    if (bytesRead === 0) break;
    total += bytesRead;
    const bytes = chunk.subarray(0, bytesRead);
    hash.update(bytes);
    if (size <= keepBytes) kept.push(Buffer.from(bytes));
  }
  if (total !== size) return undefined;
  return { blob: hash.digest('hex'), ...(size <= keepBytes ? { content: Buffer.concat(kept) } : {}) };
}
