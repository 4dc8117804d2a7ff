import type { KubernetesObject, Resource } from '@bowline/kubernetes';
import { type Client, isExpired, type WatchEvent, type WatchStream } from '@bowline/runtime/client';
import { transformWatch, wrapClient } from '../../../../test/support/wrap-client.ts';
import { GROUP } from '../api/names.ts';

/** DisturbedWatches holds back, or repeats, the events that an operator receives. */
export class DisturbedWatches {
  /** Whether every event is delivered twice. */
  isRepeating = false;
  /** How many watches ended because their resourceVersion was too old. */
  expired = 0;
  #released: Promise<void> = Promise.resolve();

  /** hold holds back the events of the operator's own kinds, until the result is disposed of: its cache becomes old. */
  hold(): Disposable {
    let release = (): void => undefined;
    this.#released = new Promise((resolve) => {
      release = resolve;
    });
    return { [Symbol.dispose]: () => release() };
  }

  /** through returns a client whose watches can be disturbed. */
  through(client: Client): Client {
    return wrapClient(client, (wrapped) => ({ watch: (kind, options) => this.#watch(wrapped, kind, options) }));
  }

  async #watch<T extends KubernetesObject>(
    client: Client,
    kind: Resource<T>,
    options: Parameters<Client['watch']>[1],
  ): Promise<WatchStream<T>> {
    const stream = await this.#countExpired(() => client.watch(kind, options));
    return transformWatch(stream, (batches) => this.#disturbed(kind, batches));
  }

  async *#disturbed<T>(
    kind: Resource,
    batches: AsyncIterable<readonly WatchEvent<T>[]>,
  ): AsyncGenerator<readonly WatchEvent<T>[]> {
    const iterator = batches[Symbol.asyncIterator]();
    try {
      for (;;) {
        const { done, value } = await this.#countExpired(() => iterator.next());
        if (done) return;
        if (kind.group === GROUP) await this.#released;
        yield value;
        if (this.isRepeating) yield value;
      }
    } finally {
      await iterator.return?.();
    }
  }

  async #countExpired<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (isExpired(error)) this.expired += 1;
      throw error;
    }
  }
}
