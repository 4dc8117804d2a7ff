import { kindId, type ObjectChange } from './memory-objects.ts';
import { asRequested, type ReadQuery } from './memory-reads.ts';

interface Watcher {
  readonly query: ReadQuery;
  /** push sends an event; undefined ends the watch. */
  readonly push: (event: object | undefined) => void;
}

/** MemoryWatches sends the changes of the storage to open watches. */
export class MemoryWatches {
  readonly #watchers = new Set<Watcher>();

  /** open opens a watch that begins with some events, and returns its stream of lines. */
  open(query: ReadQuery, initial: readonly object[], signal: AbortSignal | undefined): AsyncIterable<Uint8Array> {
    const events: (object | undefined)[] = [...initial];
    let wake: () => void = () => {};
    const push: Watcher['push'] = (event) => {
      events.push(event);
      wake();
    };
    const watcher: Watcher = { query, push };
    this.#watchers.add(watcher);
    const end = (): void => {
      this.#watchers.delete(watcher);
      push(undefined);
    };
    signal?.addEventListener('abort', end, { once: true });
    return (async function* () {
      for (;;) {
        while (events.length === 0) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
        const batch = events.splice(0);
        const sent = batch.filter((event) => event !== undefined);
        if (sent.length > 0) yield Buffer.from(`${sent.map((event) => JSON.stringify(event)).join('\n')}\n`);
        if (sent.length < batch.length) return;
      }
    })();
  }

  /** notify sends a change to the watches that select the object, or did before. */
  notify({ type, kind, object, before }: ObjectChange): void {
    for (const { query, push } of this.#watchers) {
      if (kindId(query.kind) !== kindId(kind)) continue;
      if (query.namespace !== undefined && query.namespace !== object.metadata?.namespace) continue;
      const was = before !== undefined && query.matches(before);
      const is = type !== 'DELETED' && query.matches(object);
      if (!was && !is) continue;
      const eventType = is ? (was ? 'MODIFIED' : 'ADDED') : 'DELETED';
      push({ type: eventType, object: asRequested(query, object) });
    }
  }

  /** close ends every watch. */
  close(): void {
    for (const { push } of this.#watchers) push(undefined);
    this.#watchers.clear();
  }
}
