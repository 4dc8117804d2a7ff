import type { ClientHttp2Session } from 'node:http2';
import { type BareEvent, bareKey, bareWatch, endsSnapshot, watchListPath } from './bare-watch.ts';
import { type Connection, openSession } from './connection.ts';

/** RevisionWatch observes how `data.revision` of objects changes, with a bare watch: the same observer for every operator. */
export class RevisionWatch implements Disposable {
  readonly #session: ClientHttp2Session;
  readonly #revisions = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  #arrivedMs = 0;
  #failure: Error | undefined;
  #synced = false;
  #wake: () => void = () => {};

  /** `selector` selects the objects of the collection, as a query: `fieldSelector=metadata.name%3Dx`. */
  constructor(connection: Connection, collection: string, selector: string) {
    this.#session = openSession(connection);
    const fail = (error: Error): void => {
      this.#failure = error;
      this.#wake();
    };
    this.#session.on('error', fail);
    const path = `${watchListPath(collection)}&${selector}`;
    const stream = bareWatch(this.#session, path, (event, arrivedMs) => this.#observe(event, arrivedMs));
    stream.on('error', fail);
  }

  #observe(event: BareEvent, arrivedMs: number): void {
    if (endsSnapshot(event)) this.#synced = true;
    if (event.type === 'BOOKMARK') {
      this.#wake();
      return;
    }
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
    this.#wake();
  }

  /** synced resolves once the watch is established. */
  synced(): Promise<void> {
    return this.#until(() => this.#synced, 30_000, 'the watch to start');
  }

  /**
   * reached waits until the given number of objects has this revision, and returns when the last one was observed, as
   * `performance.now()`.
   */
  async reached(revision: string, count: number, timeoutMs = 120_000): Promise<number> {
    const what = `${count} objects with ${revision}`;
    await this.#until(() => (this.#counts.get(revision) ?? 0) >= count, timeoutMs, what);
    return this.#arrivedMs;
  }

  async #until(condition: () => boolean, timeoutMs: number, what: string): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (!condition()) {
      if (this.#failure !== undefined) throw this.#failure;
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) {
        throw new Error(`waited ${timeoutMs} ms for ${what}; found ${JSON.stringify([...this.#counts])}`);
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  [Symbol.dispose](): void {
    this.#session.destroy();
  }
}
