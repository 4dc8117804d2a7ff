import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

const FOLDER = /^manager-(\d+)$/;

/**
 * RepositoryFolders holds the folders of the bare repositories, one for each source, in a folder of this process. A folder is
 * removed when no IgnitionSync uses its source and no operation works in it.
 */
export class RepositoryFolders implements AsyncDisposable {
  readonly #root: string;
  /** The source of each user. */
  readonly #sources = new Map<string, string>();
  /** How many operations work in the folder of a source. */
  readonly #borrowed = new Map<string, number>();
  readonly #removals = new Map<string, Promise<void>>();

  private constructor(root: string) {
    this.#root = root;
  }

  /** open creates the folder of this process below a work folder, and removes those of processes that have ended. */
  static async open(workFolder: string): Promise<RepositoryFolders> {
    await mkdir(workFolder, { recursive: true, mode: 0o700 });
    for (const name of await readdir(workFolder)) {
      const pid = FOLDER.exec(name)?.[1];
      if (pid === undefined || isRunning(Number(pid))) continue;
      await rm(join(workFolder, name), { recursive: true, force: true });
    }
    const root = join(workFolder, `manager-${process.pid}`);
    await mkdir(root, { recursive: true, mode: 0o700 });
    return new RepositoryFolders(root);
  }

  /** The folder of this process. */
  get root(): string {
    return this.#root;
  }

  /** use records the source of a user, in place of the one before. */
  use(user: string, source: string): void {
    const previous = this.#sources.get(user);
    this.#sources.set(user, source);
    if (previous !== undefined && previous !== source) this.#removeUnused(previous);
  }

  /** release forgets a user. */
  release(user: string): void {
    const source = this.#sources.get(user);
    this.#sources.delete(user);
    if (source !== undefined) this.#removeUnused(source);
  }

  /** isUsed reports whether a source has users. */
  isUsed(source: string): boolean {
    for (const used of this.#sources.values()) if (used === source) return true;
    return false;
  }

  /** borrow returns the folder of a source, which is not removed until the result is disposed of. */
  async borrow(source: string): Promise<{ readonly path: string } & Disposable> {
    this.#borrowed.set(source, (this.#borrowed.get(source) ?? 0) + 1);
    await this.#removals.get(source);
    return {
      path: join(this.#root, `${source}.git`),
      [Symbol.dispose]: () => {
        const left = (this.#borrowed.get(source) ?? 1) - 1;
        if (left > 0) this.#borrowed.set(source, left);
        else this.#borrowed.delete(source);
        this.#removeUnused(source);
      },
    };
  }

  /** Removes all folders. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#removals.values());
    await rm(this.#root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  #removeUnused(source: string): void {
    if (this.#borrowed.has(source) || this.#removals.has(source) || this.isUsed(source)) return;
    const removal = rm(join(this.#root, `${source}.git`), { recursive: true, force: true })
      // What is left is removed with the folder of the process.
      .catch(() => undefined)
      .finally(() => this.#removals.delete(source));
    this.#removals.set(source, removal);
  }
}

function isRunning(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
