import { BoundedMap } from '@bowline/machinery';
import type { Log } from '../observability/log.ts';

/** How many distinct texts are remembered; a server that makes them up must not fill the memory. */
const REMEMBERED = 256;

/** The agent and the optional date around a warning's text say nothing a reader needs. */
const WARNING = /\b299 \S+ "((?:[^"\\]|\\.)*)"/g;

/** Warnings logs what the API server says in `Warning` headers (deprecations, dropped fields), each text once. */
export class Warnings {
  readonly #log: Log;
  readonly #seen = new BoundedMap<string, true>({ maxEntries: REMEMBERED });

  constructor(log: Log) {
    this.#log = log;
  }

  /** take reads a response's header. */
  take(header: string | undefined): void {
    if (header === undefined) return;
    // Texts come in UTF-8, and Node makes a character of every byte of a header.
    for (const match of Buffer.from(header, 'latin1').toString().matchAll(WARNING)) {
      const text = (match[1] ?? '').replace(/\\(.)/g, '$1');
      if (this.#seen.get(text)) continue;
      this.#seen.set(text, true);
      this.#log.warn('the API server warns', { warning: text });
    }
  }
}
