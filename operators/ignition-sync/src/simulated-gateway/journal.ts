import { appendFile, rename, stat } from 'node:fs/promises';
import type { Log } from '@bowline/runtime';

/** MAX_JOURNAL_BYTES is the size after which a journal starts again. The previous one is kept with the ending `.1`. */
export const MAX_JOURNAL_BYTES = 16 * 1024 * 1024;

/** Journal appends one JSON object per line to a file, in the order of the calls. */
export class Journal {
  readonly #path: string | undefined;
  readonly #log: Log;
  #pending = '';
  #writing: Promise<void> | undefined;
  #size: number | undefined;

  /** Without a path nothing is written. */
  constructor(path: string | undefined, log: Log) {
    this.#path = path;
    this.#log = log;
  }

  /** write appends an entry. It must not contain secrets. */
  write(entry: object): void {
    if (this.#path === undefined) return;
    this.#pending += `${JSON.stringify(entry)}\n`;
    this.#writing ??= this.#drain(this.#path);
  }

  /** flush resolves when every entry has been written. */
  async flush(): Promise<void> {
    while (this.#writing) await this.#writing;
  }

  async #drain(path: string): Promise<void> {
    try {
      while (this.#pending !== '') {
        const text = this.#pending;
        this.#pending = '';
        this.#size ??= await stat(path).then(
          ({ size }) => size,
          () => 0,
        );
        if (this.#size > MAX_JOURNAL_BYTES) {
          await rename(path, `${path}.1`);
          this.#size = 0;
        }
        await appendFile(path, text);
        this.#size += Buffer.byteLength(text);
      }
    } catch (error) {
      this.#log.warn('cannot write the journal of the simulated gateway', { error });
    } finally {
      this.#writing = undefined;
    }
  }
}
