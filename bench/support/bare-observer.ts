import type { ClientHttp2Session } from 'node:http2';
import { type BareEvent, bareWatch, endsSnapshot } from './bare-watch.ts';
import { type Connection, openSession } from './connection.ts';

/** BareObserver follows bare watches in the process of the harness, and waits for what they show. */
export class BareObserver implements Disposable {
  readonly #session: ClientHttp2Session;
  #failure: Error | undefined;
  #unsynced: number;
  #wake: () => void = () => {};

  /** `paths` are those of watches; see `watchListPath`. `onEvent` gets all events but bookmarks. */
  constructor(
    connection: Connection,
    paths: readonly string[],
    onEvent: (event: BareEvent, arrivedMs: number) => void,
  ) {
    this.#unsynced = paths.length;
    this.#session = openSession(connection);
    const fail = (error: Error): void => {
      this.#failure = error;
      this.#wake();
    };
    this.#session.on('error', fail);
    for (const path of paths) {
      const stream = bareWatch(this.#session, path, (event, arrivedMs) => {
        if (endsSnapshot(event)) this.#unsynced -= 1;
        if (event.type !== 'BOOKMARK') onEvent(event, arrivedMs);
        this.#wake();
      });
      stream.on('error', fail);
    }
  }

  /** synced resolves once all watches are established. */
  synced(): Promise<void> {
    return this.until(() => this.#unsynced === 0, { timeoutMs: 30_000, describe: () => 'for the watch to start' });
  }

  /** until waits until the condition holds; it is checked after every event. */
  async until(
    condition: () => boolean,
    { timeoutMs, describe }: { readonly timeoutMs: number; readonly describe: () => string },
  ): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (!condition()) {
      if (this.#failure !== undefined) throw this.#failure;
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) throw new Error(`waited ${timeoutMs} ms ${describe()}`);
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
