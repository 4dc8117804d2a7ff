import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** VolumeFolders holds one folder for each volume, named after it. */
export class VolumeFolders implements AsyncDisposable {
  readonly #given: string | undefined;
  #root: Promise<string> | undefined;

  /** Without a folder, a temporary one is created with the first volume and removed in the end. */
  constructor(folder: string | undefined) {
    this.#given = folder === undefined ? undefined : resolve(folder);
  }

  /** create creates the folder of a volume, or keeps an existing one, and returns its path. */
  async create(volume: string): Promise<string> {
    this.#root ??=
      this.#given === undefined ? mkdtemp(join(tmpdir(), 'bowline-volumes-')) : Promise.resolve(this.#given);
    const path = join(await this.#root, volume);
    await mkdir(path, { recursive: true, mode: 0o700 });
    return path;
  }

  /**
   * remove deletes the folder of a volume and its content, if it is the given path: any user may write another path into
   * a PersistentVolume.
   */
  async remove(volume: string, path: string | undefined): Promise<void> {
    const root = (await this.#root) ?? this.#given;
    if (root === undefined || path !== join(root, volume)) return;
    await rm(path, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#given !== undefined || this.#root === undefined) return;
    await rm(await this.#root, { recursive: true, force: true });
  }
}
