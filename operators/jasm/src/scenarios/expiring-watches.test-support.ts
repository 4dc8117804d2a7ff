import type { KubernetesObject, Resource } from '@bowline/kubernetes';
import { ApiError, type Client, type WatchStream } from '@bowline/runtime/client';
import { transformWatch, wrapClient } from '../../../../test/support/wrap-client.ts';

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
    return wrapClient(client, (wrapped) => ({ watch: (kind, options) => this.#watch(wrapped, kind, options) }));
  }

  async #watch<T extends KubernetesObject>(
    client: Client,
    kind: Resource<T>,
    options: Parameters<Client['watch']>[1] = {},
  ): Promise<WatchStream<T>> {
    const { signal: expired } = this.#expiry;
    const signal = options.signal ? AbortSignal.any([options.signal, expired]) : expired;
    return transformWatch(await client.watch(kind, { ...options, signal }), async function* (batches) {
      try {
        yield* batches;
      } catch (error) {
        if (!expired.aborted) throw error;
        throw new ApiError({ request: { verb: 'watch', resource: kind, path: '/' }, status: 410 });
      }
    });
  }
}
