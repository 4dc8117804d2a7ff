import { type OpenJournal, openJournal } from '../server/storage/journal.ts';

/** Persistence is where a control plane keeps its data. */
export class Persistence {
  readonly #folder: string | undefined;
  #open: OpenJournal | undefined;

  /** Without a folder nothing is kept. */
  constructor(folder: string | undefined) {
    this.#folder = folder;
  }

  open(): Partial<Pick<OpenJournal, 'journal' | 'restored'>> {
    if (this.#folder === undefined) return {};
    this.#open = openJournal(this.#folder);
    return this.#open;
  }

  /** close ends the writing, and says whether there was any: what was written can be opened again. */
  close(): boolean {
    const open = this.#open;
    this.#open = undefined;
    open?.close();
    return open !== undefined;
  }
}
