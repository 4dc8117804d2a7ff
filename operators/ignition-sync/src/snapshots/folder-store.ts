import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../engine/files/has-code.ts';
import { syncFolder, writeDurably } from '../engine/files/write-durably.ts';
import type { SnapshotStore, StoredArchive } from './snapshot-store.ts';

/** FolderStore keeps snapshots in a folder of the data folder. */
export class FolderStore implements SnapshotStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async readIndex(): Promise<string | undefined> {
    try {
      return await readFile(join(this.#folder, 'index.json'), 'utf8');
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return undefined;
      throw error;
    }
  }

  async writeIndex(text: string): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
    await writeDurably(join(this.#folder, 'index.json'), text);
  }

  async put(name: string, { path }: StoredArchive): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
    await rename(path, join(this.#folder, name));
    await syncFolder(this.#folder);
  }

  async get(name: string): Promise<string> {
    return join(this.#folder, name);
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.#folder, name), { force: true });
  }
}
