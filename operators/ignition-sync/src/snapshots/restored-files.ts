import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { createFile, openFile, writeAll } from '../engine/files/write-durably.ts';
import type { BlobSource } from '../engine/sync/blob-source.ts';
import { blobHash } from '../engine/tree/blob-id.ts';
import { DEFAULT_LIMITS } from '../engine/tree/check-limits.ts';
import type { DesiredFile } from '../engine/tree/tree-entry.ts';
import { readTar, type TarMember } from './read-tar.ts';
import {
  CONTENT_NAME,
  FILES_PREFIX,
  MAX_CONTENT_BYTES,
  parseContent,
  type SnapshotContent,
} from './snapshot-content.ts';

/**
 * RestoredFiles extracts the files of archives into a folder, and provides them to a sync. Several archives are added, the oldest
 * first: the first one that has a path decides about it, because it has what the path was before all later syncs.
 */
export class RestoredFiles implements AsyncDisposable {
  readonly #folder: string;
  /** By path; undefined: the path did not exist. */
  readonly #files = new Map<string, DesiredFile | undefined>();
  readonly #extracted = new Map<string, { readonly path: string; readonly size: number }>();
  #bytes = 0;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** create creates an empty folder. */
  static async create(folder: string): Promise<RestoredFiles> {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return new RestoredFiles(folder);
  }

  /** files are the files to restore, by path. */
  get files(): ReadonlyMap<string, DesiredFile> {
    const files = new Map<string, DesiredFile>();
    for (const [path, file] of this.#files) if (file !== undefined) files.set(path, file);
    return files;
  }

  /** isDecided returns whether an archive has the path, or has that it did not exist. */
  isDecided(path: string): boolean {
    return this.#files.has(path);
  }

  /** blobs provides the content of the files. */
  get blobs(): BlobSource {
    const find = (blob: string): { readonly path: string; readonly size: number } => {
      const found = this.#extracted.get(blob);
      if (found === undefined) throw new Error('the snapshot does not have the file');
      return found;
    };
    return {
      prepare: async (blobs) => new Map(Array.from(blobs, (blob) => [blob, find(blob).size])),
      open: (blob) => readFileAt(find(blob).path),
    };
  }

  /** add extracts an archive. It throws if its checksum differs, or if anything in it is not what a snapshot contains. */
  async add(archive: string, checksum: string, signal: AbortSignal): Promise<void> {
    // Before anything of it is read: the content of a damaged archive is not worth a look.
    if ((await hashOf(archive)) !== checksum) throw new Error('its checksum is not that of the index');
    const bytes = createReadStream(archive).compose(createGunzip()) as AsyncIterable<Buffer>;
    let content: SnapshotContent | undefined;
    let index = 0;
    for await (const member of readTar(bytes)) {
      signal.throwIfAborted();
      if (content === undefined) {
        content = await readDescription(member);
        for (const path of content.added) if (!this.#files.has(path)) this.#files.set(path, undefined);
        continue;
      }
      const path = content.files[index++];
      if (path === undefined || member.path !== `${FILES_PREFIX}${path}`)
        throw new Error('its files are not as described');
      if (!this.#files.has(path)) this.#files.set(path, await this.#extract(path, member));
    }
    if (content === undefined || index !== content.files.length) throw new Error('files are missing in it');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #extract(path: string, { size, mode, content }: TarMember): Promise<DesiredFile> {
    this.#bytes += size;
    if (size > DEFAULT_LIMITS.maxFileBytes || this.#bytes > DEFAULT_LIMITS.maxTotalBytes)
      throw new Error(`${path} exceeds the size limits of a sync`);
    const target = join(this.#folder, String(this.#files.size));
    const hash = blobHash(size);
    await using file = await createFile(target, 0o600);
    for await (const chunk of content) {
      hash.update(chunk);
      await writeAll(file, chunk);
    }
    const blob = hash.digest('hex');
    this.#extracted.set(blob, { path: target, size });
    const fileMode = (mode & 0o111) === 0 ? 0o644 : 0o755;
    return { path, blob, mode: fileMode, source: path, size, transforms: [], transformHash: '' };
  }
}

async function readDescription({ path, size, content }: TarMember): Promise<SnapshotContent> {
  if (path !== CONTENT_NAME || size > MAX_CONTENT_BYTES) throw new Error('it does not begin with its description');
  const chunks: Buffer[] = [];
  for await (const chunk of content) chunks.push(chunk);
  const parsed = parseContent(Buffer.concat(chunks).toString('utf8'));
  if (parsed === undefined) throw new Error('its description is damaged or contains a path that must not be written');
  return parsed;
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of readFileAt(path)) hash.update(chunk);
  return hash.digest('hex');
}

async function* readFileAt(path: string): AsyncGenerator<Buffer> {
  await using file = await openFile(path);
  for await (const chunk of file.createReadStream({ autoClose: false })) yield chunk as Buffer;
}
