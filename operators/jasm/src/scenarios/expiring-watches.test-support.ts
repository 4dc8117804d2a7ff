import type { KubernetesObject, Resource } from '@bowline/kubernetes';
import { ApiError, type Client, type WatchStream } from '@bowline/runtime/client';

/**
 * ExpiringWatches sits between an operator and its client, and ends all its watches like watches whose history the API
 * server no longer has, so that everything has to be listed again.
 */
export class ExpiringWatches {
  #expiry = new AbortController();

  /** expire ends all watches in progress. */
  expire(): void {
    this.#expiry.abort();
    this.#expiry = new AbortController();
  }

  /** through returns the client that the operator gets. */
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
    options: Parameters<Client['watch']>[1] = {},
  ): Promise<WatchStream<T>> {
    const { signal: expired } = this.#expiry;
    const signal = options.signal ? AbortSignal.any([options.signal, expired]) : expired;
    const stream = await client.watch(kind, { ...options, signal });
    const ending = async function* <Item>(items: AsyncIterable<Item>): AsyncGenerator<Item> {
      try {
        yield* items;
      } catch (error) {
        if (!expired.aborted) throw error;
        throw new ApiError({ request: { verb: 'watch', resource: kind, path: '/' }, status: 410 });
      }
    };
    return {
      batches: () => ending(stream.batches()),
      [Symbol.asyncIterator]: () => ending(stream),
      aliveAt: () => stream.aliveAt(),
    };
  }
}
