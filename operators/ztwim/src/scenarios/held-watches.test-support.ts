import type { KubernetesObject, Resource } from '@bowline/kubernetes';
import type { Client, WatchStream } from '@bowline/runtime/client';
import { GROUP } from '../api/names.ts';

/** HeldWatches makes the cache of an operator old: it holds back the events of the operator's own kinds. */
export class HeldWatches {
  #released: Promise<void> = Promise.resolve();

  /** hold holds back all events from now on, until the result is disposed of. */
  hold(): Disposable {
    let release = (): void => undefined;
    this.#released = new Promise((resolve) => {
      release = resolve;
    });
    return { [Symbol.dispose]: () => release() };
  }

  /** through returns a client whose watches can be held. */
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
    const stream = await client.watch(kind, options);
    if (kind.group !== GROUP) return stream;
    const released = () => this.#released;
    const delayed = async function* <Item>(items: AsyncIterable<Item>): AsyncGenerator<Item> {
      for await (const item of items) {
        await released();
        yield item;
      }
    };
    return {
      batches: () => delayed(stream.batches()),
      [Symbol.asyncIterator]: () => delayed(stream),
      aliveAt: () => stream.aliveAt(),
    };
  }
}
