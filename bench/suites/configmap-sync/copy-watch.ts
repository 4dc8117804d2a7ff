import type { ClientHttp2Session } from 'node:http2';
import { type BareEvent, bareWatch, endsSnapshot, watchListPath } from '../../support/bare-watch.ts';
import { type Connection, openSession } from '../../support/connection.ts';

/** CopyWatch sees the copies of one name as they change, by a bare watch: the same judge for every operator. */
export class CopyWatch implements Disposable {
  readonly #session: ClientHttp2Session;
  readonly #revisions = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  #arrivedMs = 0;
  #failure: Error | undefined;
  #synced = false;
  #wake: () => void = () => {};

  constructor(connection: Connection, name: string) {
    this.#session = openSession(connection);
    const fail = (error: Error): void => {
      this.#failure = error;
      this.#wake();
    };
    this.#session.on('error', fail);
    const path = `${watchListPath('/api/v1/configmaps')}&fieldSelector=metadata.name%3D${name}`;
    const stream = bareWatch(this.#session, path, (event, arrivedMs) => this.#see(event, arrivedMs));
    stream.on('error', fail);
  }

  #see(event: BareEvent, arrivedMs: number): void {
    if (endsSnapshot(event)) this.#synced = true;
    if (event.type === 'BOOKMARK') {
      this.#wake();
      return;
    }
    const namespace = event.object.metadata.namespace ?? '';
    const before = this.#revisions.get(namespace);
    const now = event.type === 'DELETED' ? undefined : event.object.data?.revision;
    if (before === now) return;
    if (before !== undefined) this.#counts.set(before, (this.#counts.get(before) ?? 1) - 1);
    if (now !== undefined) {
      this.#counts.set(now, (this.#counts.get(now) ?? 0) + 1);
      this.#revisions.set(namespace, now);
    }
    this.#arrivedMs = arrivedMs;
    this.#wake();
  }

  /** synced resolves once the watch is established. */
  synced(): Promise<void> {
    return this.#until(() => this.#synced, 30_000, 'the watch of the copies to begin');
  }

  /** reached waits until so many copies carry this revision, and answers when the last one was seen, as `performance.now()`. */
  async reached(revision: string, copies: number, timeoutMs = 120_000): Promise<number> {
    const what = `${copies} copies with ${revision}`;
    await this.#until(() => (this.#counts.get(revision) ?? 0) >= copies, timeoutMs, what);
    return this.#arrivedMs;
  }

  async #until(isSo: () => boolean, timeoutMs: number, what: string): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (!isSo()) {
      if (this.#failure !== undefined) throw this.#failure;
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) {
        throw new Error(`waited ${timeoutMs} ms for ${what}; there are ${JSON.stringify([...this.#counts])}`);
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
