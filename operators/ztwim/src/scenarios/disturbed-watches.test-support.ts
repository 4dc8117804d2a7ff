import type { KubernetesObject, Resource } from '@bowline/kubernetes';
import { type Client, isExpired, type WatchEvent, type WatchStream } from '@bowline/runtime/client';
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
    const replaced: Pick<Client, 'watch' | 'guarded' | 'checked' | 'withFieldManager'> = {
      watch: (kind, options) => this.#watch(client, kind, options),
      guarded: (guard) => this.through(client.guarded(guard)),
      checked: (check) => this.through(client.checked(check)),
      withFieldManager: (name) => this.through(client.withFieldManager(name)),
    };
    return new Proxy(client, {
      get(target, name) {
        if (Object.hasOwn(replaced, name)) return replaced[name as keyof typeof replaced];
        const member: unknown = Reflect.get(target, name, target);
        // A method accesses its private state through the client itself, not through this proxy.
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
  }

  async #watch<T extends KubernetesObject>(
    client: Client,
    kind: Resource<T>,
    options: Parameters<Client['watch']>[1],
  ): Promise<WatchStream<T>> {
    const stream = await this.#countExpired(() => client.watch(kind, options));
    const batches = () => this.#disturbed(kind, stream.batches());
    return {
      batches,
      async *[Symbol.asyncIterator]() {
        for await (const batch of batches()) yield* batch;
      },
      aliveAt: () => stream.aliveAt(),
    };
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
