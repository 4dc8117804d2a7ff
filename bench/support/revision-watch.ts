import { BareObserver } from './bare-observer.ts';
import { type BareEvent, bareKey, watchListPath } from './bare-watch.ts';
import type { Connection } from './connection.ts';

/** RevisionWatch observes how `data.revision` of objects changes, with a bare watch: the same observer for every operator. */
export class RevisionWatch implements Disposable {
  readonly #observer: BareObserver;
  readonly #revisions = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  #arrivedMs = 0;

  /** `selector` selects the objects of the collection, as a query: `fieldSelector=metadata.name%3Dx`. */
  constructor(connection: Connection, collection: string, selector: string) {
    const path = `${watchListPath(collection)}&${selector}`;
    this.#observer = new BareObserver(connection, [path], (event, arrivedMs) => this.#observe(event, arrivedMs));
  }

  #observe(event: BareEvent, arrivedMs: number): void {
    const key = bareKey(event.object);
    const before = this.#revisions.get(key);
    const now = event.type === 'DELETED' ? undefined : event.object.data?.revision;
    if (before === now) return;
    if (before !== undefined) this.#counts.set(before, (this.#counts.get(before) ?? 1) - 1);
    if (now === undefined) this.#revisions.delete(key);
    else {
      this.#counts.set(now, (this.#counts.get(now) ?? 0) + 1);
      this.#revisions.set(key, now);
    }
    this.#arrivedMs = arrivedMs;
  }

  /** synced resolves once the watch is established. */
  synced(): Promise<void> {
    return this.#observer.synced();
  }

  /**
   * reached waits until the given number of objects has this revision, and returns when the last one was observed, as
   * `performance.now()`.
   */
  async reached(revision: string, count: number, timeoutMs = 120_000): Promise<number> {
    await this.#observer.until(() => (this.#counts.get(revision) ?? 0) >= count, {
      timeoutMs,
      describe: () => `for ${count} objects with ${revision}; found ${JSON.stringify([...this.#counts])}`,
    });
    return this.#arrivedMs;
  }

  [Symbol.dispose](): void {
    this.#observer[Symbol.dispose]();
  }
}
