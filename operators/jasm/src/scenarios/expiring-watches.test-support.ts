import type { KubernetesObject, Resource } from '@bowline/kubernetes';
import { ApiError, type Client, type WatchStream } from '@bowline/runtime/client';

/**
 * ExpiringWatches is what stands between an operator and its client, and lets all its watches end as those do that the API server
 * has no history for any more: what is watched has to be listed anew.
 */
export class ExpiringWatches {
  #expiry = new AbortController();

  /** expire ends all watches that are under way. */
  expire(): void {
    this.#expiry.abort();
    this.#expiry = new AbortController();
  }

  /** through is the client as the operator gets it. */
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
        // A method reaches its private state through the client itself, not through this proxy.
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
