import type { BigIntStats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { hasCode } from './has-code.ts';

/** FileStat identifies the content of a file without reading it. */
export interface FileStat {
  readonly size: number;
  /** In nanoseconds since the epoch, as text: the number does not fit into a JSON number. */
  readonly mtime: string;
  readonly inode: string;
}

/** fileStat returns the part of a stat that identifies the content of a file. */
export function fileStat({ size, mtimeNs, ino }: BigIntStats): FileStat {
  return { size: Number(size), mtime: String(mtimeNs), inode: String(ino) };
}

/** isSameStat returns whether two stats are of the same file with the same content. */
export function isSameStat(a: FileStat, b: FileStat): boolean {
  return a.size === b.size && a.mtime === b.mtime && a.inode === b.inode;
}

/** statOf returns the stat of a path itself, not of what a link points to; undefined if the path does not exist. */
export async function statOf(path: string): Promise<BigIntStats | undefined> {
  try {
    return await lstat(path, { bigint: true });
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}
