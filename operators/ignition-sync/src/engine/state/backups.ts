import { link, lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { copyFile } from '../files/copy-file.ts';
import type { DataFolder } from '../files/data-folder.ts';
import { fileStat, isSameStat, statOf } from '../files/file-stat.ts';
import { hasCode } from '../files/has-code.ts';
import { syncFolder } from '../files/write-durably.ts';

/** BackupLimits bounds the files that are kept. */
export interface BackupLimits {
  /** How many syncs are kept. Defaults to 5. */
  readonly maxSyncs?: number | undefined;
  /** In bytes, of all kept files. Defaults to 256 MiB. */
  readonly maxBytes?: number | undefined;
}

const MAX_SYNCS = 5;
const MAX_BYTES = 256 * 1024 * 1024;
/** A path is backed up again if the gateway writes it again before the sync is finished. */
const MAX_VERSIONS = 10;

/** backupName returns the name of the folder for the backups of a sync that starts at a time. It sorts by time. */
export function backupName(nowMs: number): string {
  return new Date(nowMs).toISOString().replace(/[:.]/g, '-');
}

/** Backups keeps the files of a gateway that a sync replaces or deletes. */
export class Backups {
  readonly #folder: DataFolder;
  readonly #name: string;
  readonly #maxSyncs: number;
  readonly #maxBytes: number;
  /** The bytes of each folder, oldest first; read before the first backup. */
  #sizes: Map<string, number> | undefined;
  readonly #touched = new Set<string>();
  #kept = 0;
  #notKept = 0;

  constructor(folder: DataFolder, name: string, { maxSyncs = MAX_SYNCS, maxBytes = MAX_BYTES }: BackupLimits = {}) {
    this.#folder = folder;
    this.#name = name;
    this.#maxSyncs = maxSyncs;
    this.#maxBytes = maxBytes;
  }

  /** kept is the number of files that were backed up. */
  get kept(): number {
    return this.#kept;
  }

  /** notKept is the number of files that did not fit. */
  get notKept(): number {
    return this.#notKept;
  }

  /** keep backs up a live file. A file that is backed up already stays as it is. */
  async keep(path: string): Promise<void> {
    const live = this.#folder.absolute(path);
    const stats = await statOf(live);
    if (!stats?.isFile()) return;
    const size = Number(stats.size);
    for (let version = 0; version < MAX_VERSIONS; version++) {
      const name = version === 0 ? this.#name : `${this.#name}-${version}`;
      const target = join(this.#replaced, name, path);
      const existing = await statOf(target);
      if (existing !== undefined && isCopyOf(existing, stats)) return;
      if (existing !== undefined) continue;
      if (!(await this.#makeRoom(name, size))) {
        this.#notKept++;
        return;
      }
      if (!(await this.#store(live, target))) continue;
      this.#sizes?.set(name, (this.#sizes.get(name) ?? 0) + size);
      this.#kept++;
      return;
    }
    this.#notKept++;
  }

  /** sync makes the backups durable. */
  async sync(): Promise<void> {
    for (const folder of this.#touched) await syncFolder(folder);
    this.#touched.clear();
  }

  get #replaced(): string {
    return join(this.#folder.state, 'replaced');
  }

  /** Removes the oldest backups until there is room; returns false if there is not enough without them. */
  async #makeRoom(name: string, size: number): Promise<boolean> {
    if (size > this.#maxBytes) return false;
    this.#sizes ??= await this.#measure();
    const sizes = this.#sizes;
    if (!sizes.has(name)) sizes.set(name, 0);
    const isTooMuch = (): boolean =>
      sizes.size > this.#maxSyncs || [...sizes.values()].reduce((sum, each) => sum + each, size) > this.#maxBytes;
    while (isTooMuch()) {
      const [oldest] = [...sizes.keys()].toSorted();
      if (oldest === undefined || oldest.startsWith(this.#name)) return false;
      await rm(join(this.#replaced, oldest), { recursive: true, force: true });
      sizes.delete(oldest);
    }
    return true;
  }

  async #measure(): Promise<Map<string, number>> {
    const sizes = new Map<string, number>();
    for (const entry of await readdir(this.#replaced, { withFileTypes: true })) {
      if (!entry.isDirectory()) continue;
      sizes.set(entry.name, await bytesBelow(join(this.#replaced, entry.name)));
    }
    return sizes;
  }

  /** Returns false if the path is taken by a folder or a file of another backup. */
  async #store(live: string, target: string): Promise<boolean> {
    try {
      await this.#createFolders(dirname(target));
      await linkOrCopy(live, target);
      return true;
    } catch (error) {
      if (hasCode(error, 'EEXIST', 'ENOTDIR')) return false;
      throw error;
    }
  }

  async #createFolders(folder: string): Promise<void> {
    const first = await mkdir(folder, { recursive: true });
    const top = first === undefined ? folder : dirname(first);
    for (let each = folder; each.length >= top.length; each = dirname(each)) this.#touched.add(each);
  }
}

/** A link has the same inode; a copy keeps the time, in the precision that can be set. */
function isCopyOf(backup: Parameters<typeof fileStat>[0], live: Parameters<typeof fileStat>[0]): boolean {
  if (isSameStat(fileStat(backup), fileStat(live))) return true;
  return backup.size === live.size && backup.mtimeMs === live.mtimeMs;
}

async function bytesBelow(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    bytes += entry.isDirectory() ? await bytesBelow(path) : (await lstat(path)).size;
  }
  return bytes;
}

async function linkOrCopy(live: string, target: string): Promise<void> {
  try {
    await link(live, target);
  } catch (error) {
    if (!hasCode(error, 'EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'ENOSYS')) throw error;
    await copyFile(live, target);
  }
}
