import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';

/** FolderWatchesOptions configures who is notified. */
export interface FolderWatchesOptions {
  /** Called with the folder and the name of the changed entry, if it is known. */
  readonly onChange: (folder: string, name: string | null) => void;
  /** Called when a folder that exists cannot be watched, for example because of a limit of the node. */
  readonly onFailure: (folder: string, error: unknown) => void;
}

interface WatchedFolder {
  readonly identity: string;
  readonly watcher: FSWatcher;
}

/** FolderWatches watches a set of folders that appear, disappear and are recreated. */
export class FolderWatches implements Disposable {
  readonly #options: FolderWatchesOptions;
  readonly #watched = new Map<string, WatchedFolder>();
  #isDisposed = false;

  constructor(options: FolderWatchesOptions) {
    this.#options = options;
  }

  /** size is the number of watched folders. */
  get size(): number {
    return this.#watched.size;
  }

  /**
   * update watches exactly the given folders, as far as they exist. It returns whether one was added: its entries may
   * have changed before it was watched.
   */
  async update(folders: readonly string[]): Promise<boolean> {
    const identities = new Map<string, string>();
    for (const folder of folders) {
      const identity = await identityOf(folder);
      if (identity !== undefined) identities.set(folder, identity);
    }
    // Without an await from here on: two updates at the same time must not watch a folder twice.
    if (this.#isDisposed) return false;
    for (const [folder, { identity }] of this.#watched) if (identities.get(folder) !== identity) this.#close(folder);
    let isAdded = false;
    for (const [folder, identity] of identities)
      if (!this.#watched.has(folder) && this.#open(folder, identity)) isAdded = true;
    return isAdded;
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    for (const folder of [...this.#watched.keys()]) this.#close(folder);
  }

  #open(folder: string, identity: string): boolean {
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => this.#options.onChange(folder, name));
      watcher.on('error', (error) => this.#failed(folder, watcher, error));
      this.#watched.set(folder, { identity, watcher });
      return true;
    } catch (error) {
      this.#options.onFailure(folder, error);
      return false;
    }
  }

  #failed(folder: string, watcher: FSWatcher, error: unknown): void {
    if (this.#watched.get(folder)?.watcher !== watcher) return;
    this.#close(folder);
    this.#options.onFailure(folder, error);
  }

  #close(folder: string): void {
    this.#watched.get(folder)?.watcher.close();
    this.#watched.delete(folder);
  }
}

/** identityOf tells a folder from another one that replaced it; undefined if it does not exist. */
async function identityOf(folder: string): Promise<string | undefined> {
  try {
    const { dev, ino } = await stat(folder);
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}
