import { type OpenJournal, openJournal } from '../server/storage/journal.ts';

/** Persistence manages where a control plane stores its data. */
export class Persistence {
  readonly #folder: string | undefined;
  #open: OpenJournal | undefined;

  /** Without a folder nothing is stored. */
  constructor(folder: string | undefined) {
    this.#folder = folder;
  }

  open(): Partial<Pick<OpenJournal, 'journal' | 'restored'>> {
    if (this.#folder === undefined) return {};
    this.#open = openJournal(this.#folder);
    return this.#open;
  }

  /** close ends writing and returns whether data was persisted, so that it can be opened again. */
  close(): boolean {
    const open = this.#open;
    this.#open = undefined;
    open?.close();
    return open !== undefined;
  }
}
