import { BoundedMap } from '@bowline/machinery';
import type { Log } from '../observability/log.ts';

/** How many distinct texts are remembered; a server that generates new ones must not fill the memory. */
const MAX_REMEMBERED = 256;

/** Matches a warning's text; the agent and the optional date around it are of no use to a reader. */
const WARNING = /\b299 \S+ "((?:[^"\\]|\\.)*)"/g;

/** Warnings logs the texts of the API server's `Warning` headers (deprecations, dropped fields), each text once. */
export class Warnings {
  readonly #log: Log;
  readonly #seen = new BoundedMap<string, true>({ maxEntries: MAX_REMEMBERED });

  constructor(log: Log) {
    this.#log = log;
  }

  /** logOnce reads the header of a response. */
  logOnce(header: string | undefined): void {
    if (header === undefined) return;
    // Texts are sent in UTF-8, and Node turns every byte of a header into a character.
    for (const match of Buffer.from(header, 'latin1').toString().matchAll(WARNING)) {
      const text = (match[1] ?? '').replace(/\\(.)/g, '$1');
      if (this.#seen.get(text)) continue;
      this.#seen.set(text, true);
      this.#log.warn('warning from the API server', { warning: text });
    }
  }
}
