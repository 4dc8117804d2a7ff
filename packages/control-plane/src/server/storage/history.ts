import type { Clock } from '@bowline/machinery';
import type { Stored } from './stored.ts';

/** Change is one write, as watchers see it. */
export interface Change {
  readonly revision: number;
  readonly collection: string;
  readonly key: string;
  /** Undefined when the write created the object. */
  readonly previous: Stored | undefined;
  /** Undefined when the write deleted the object. */
  readonly current: Stored | undefined;
  /** The last state of a deleted object, at the revision of its deletion. */
  readonly last: Stored | undefined;
}

/** HistoryLimits limits what is kept for watches that reconnect. */
export interface HistoryLimits {
  /** Defaults to 10,000. */
  readonly changes?: number | undefined;
  /** The size of the texts of the changes. Defaults to 64 MiB. */
  readonly bytes?: number | undefined;
  /** Defaults to 5 minutes, the compaction interval that the API server uses with etcd. */
  readonly ageMs?: number | undefined;
}

interface HistoryEntry {
  readonly change: Change;
  readonly at: number;
}

/** History keeps the latest changes. Requests for older ones fail with 410. */
export class History {
  readonly #clock: Clock;
  readonly #limits: { readonly changes: number; readonly bytes: number; readonly ageMs: number };
  /** A queue with a moving head; sliced when half of it is empty. */
  #entries: (HistoryEntry | undefined)[] = [];
  #head = 0;
  #bytes = 0;
  #compactedRevision: number;

  constructor(clock: Clock, begin: number, limits: HistoryLimits = {}) {
    this.#clock = clock;
    this.#compactedRevision = begin;
    this.#limits = {
      changes: limits.changes ?? 10_000,
      bytes: limits.bytes ?? 64 * 1024 * 1024,
      ageMs: limits.ageMs ?? 5 * 60_000,
    };
  }

  /** The newest revision whose change was dropped: a watch may start there, and no earlier. */
  get compactedRevision(): number {
    return this.#compactedRevision;
  }

  add(change: Change): void {
    this.#entries.push({ change, at: this.#clock.monotonic() });
    this.#bytes += sizeOf(change);
    this.#trim();
  }

  /** since returns the changes after a revision, oldest first. */
  *since(revision: number): Generator<Change> {
    let low = this.#head;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#entries[middle]?.change.revision ?? 0) <= revision) low = middle + 1;
      else high = middle;
    }
    for (let at = low; at < this.#entries.length; at++) {
      const entry = this.#entries[at];
      if (entry) yield entry.change;
    }
  }

  /** compact drops all changes up to a revision; defaults to all. */
  compact(revision = Number.POSITIVE_INFINITY): void {
    while (this.#head < this.#entries.length && (this.#entries[this.#head]?.change.revision ?? 0) <= revision) {
      this.#drop();
    }
    this.#cut();
  }

  #trim(): void {
    const tooOld = this.#clock.monotonic() - this.#limits.ageMs;
    for (;;) {
      const oldest = this.#entries[this.#head];
      if (!oldest) break;
      const count = this.#entries.length - this.#head;
      if (count <= this.#limits.changes && this.#bytes <= this.#limits.bytes && oldest.at >= tooOld) break;
      this.#drop();
    }
    this.#cut();
  }

  #drop(): void {
    const entry = this.#entries[this.#head];
    if (entry) {
      this.#bytes -= sizeOf(entry.change);
      this.#compactedRevision = entry.change.revision;
    }
    this.#entries[this.#head++] = undefined;
  }

  #cut(): void {
    if (this.#head < 1024 || this.#head * 2 < this.#entries.length) return;
    this.#entries = this.#entries.slice(this.#head);
    this.#head = 0;
  }
}

/**
 * The size of the text that this change alone keeps in memory: its previous state is the current one of an earlier
 * change.
 */
function sizeOf({ current, last }: Change): number {
  return (current ?? last)?.json.length ?? 0;
}
