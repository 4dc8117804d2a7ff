import { Cache } from '@bowline/runtime/cache';
import { type Client, type ConnectionConfig, connect, createClient } from '@bowline/runtime/client';

/** OpenedCache is a running cache with its transport and client. */
export interface OpenedCache extends AsyncDisposable {
  readonly client: Client;
  readonly cache: Cache;
}

/** openCache runs a cache with all defaults, as in a program without a manager. */
export function openCache(config: ConnectionConfig): OpenedCache {
  const transport = connect(config);
  const client = createClient({ transport });
  const cache = new Cache({ client });
  const stop = new AbortController();
  const stopped = cache.run(stop.signal);
  return {
    client,
    cache,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await stopped;
      await transport.close();
    },
  };
}
