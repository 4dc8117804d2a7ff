import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { SyncError } from '../sync-error.ts';
import { STATE_FOLDER } from '../tree/excluded-paths.ts';
import { type FileStat, fileStat, statOf } from './file-stat.ts';
import { hasCode } from './has-code.ts';
import { syncFolder } from './write-durably.ts';

/** LiveTarget is what exists at a path below the data folder. */
export type LiveTarget =
  | {
      readonly kind: 'missing' /** The first folder on the path that does not exist. */;
      readonly missingFolder?: string;
    }
  | { readonly kind: 'file'; readonly stat: FileStat; readonly isExecutable: boolean }
  | { readonly kind: 'folder' }
  /** A link, a device, a socket. */
  | { readonly kind: 'special' }
  /** A folder on the path is a file. */
  | { readonly kind: 'below-file'; readonly file: string }
  /** A folder on the path is a link, or another special file. */
  | { readonly kind: 'below-special'; readonly folder: string };

/** The longest path that the state folder adds: backups have a time and the path. */
const RESERVED_BYTES = 80;
const MAX_ABSOLUTE_BYTES = 4_095;

/** DataFolder is the data folder of a gateway. All paths are relative to it. */
export class DataFolder {
  /** Absolute, without links. */
  readonly path: string;
  /** The folder of the agent. */
  readonly state: string;

  private constructor(path: string) {
    this.path = path;
    this.state = join(path, STATE_FOLDER);
  }

  /** open returns the data folder at a path and creates the agent's folder in it. */
  static async open(path: string): Promise<DataFolder> {
    const folder = new DataFolder(await realpath(path));
    for (const name of ['', 'staging', 'replaced']) await folder.#ownFolder(name);
    return folder;
  }

  /** absolute returns the absolute path of a checked relative path. */
  absolute(path: string): string {
    return `${this.path}/${path}`;
  }

  /**
   * inspect returns what exists at a path. Every folder on the path is checked by itself, so that no link is followed. Pass
   * `folders` to check each folder once for many paths.
   */
  async inspect(path: string, folders: Map<string, LiveTarget> = new Map()): Promise<LiveTarget> {
    const end = path.lastIndexOf('/');
    if (end > 0) {
      const parent = path.slice(0, end);
      const above = folders.get(parent) ?? (await this.inspect(parent, folders));
      folders.set(parent, above);
      if (above.kind === 'missing') return { kind: 'missing', missingFolder: above.missingFolder ?? parent };
      if (above.kind === 'file') return { kind: 'below-file', file: parent };
      if (above.kind === 'special') return { kind: 'below-special', folder: parent };
      if (above.kind !== 'folder') return above;
    }
    return await this.#inspectLast(path);
  }

  async #inspectLast(path: string): Promise<LiveTarget> {
    const absolute = this.absolute(path);
    if (Buffer.byteLength(absolute) + RESERVED_BYTES > MAX_ABSOLUTE_BYTES) {
      throw new SyncError('UnsafePath', {
        path,
        problem: 'the path in the data folder is too long',
        remedy: 'rename it in the repository or exclude it with excludePatterns',
      });
    }
    const stats = await statOf(absolute);
    if (stats === undefined) return { kind: 'missing' };
    if (stats.isDirectory()) return { kind: 'folder' };
    if (!stats.isFile()) return { kind: 'special' };
    return { kind: 'file', stat: fileStat(stats), isExecutable: (stats.mode & 0o111n) !== 0n };
  }

  /** The agent's folders must not be links: a sync would write to where they point. */
  async #ownFolder(name: string): Promise<void> {
    const path = join(this.state, name);
    try {
      await mkdir(path, { mode: 0o755 });
      await syncFolder(join(path, '..'));
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
    }
    if ((await statOf(path))?.isDirectory()) return;
    throw new SyncError('UnsafeTarget', {
      path: join(STATE_FOLDER, name),
      problem: 'the folder of the agent is not a folder',
      remedy: 'remove it from the data folder',
    });
  }
}
