import { type KubernetesObject, keyOf, keyString, type Resource } from '@bowline/kubernetes';
import type { Client, ListOptions, Transport, WatchEvent, WatchOptions, WatchStream } from '@bowline/runtime/client';
import type { Tamper } from './model.ts';

/** Possible defects of a client or a reflector. The model has to detect each of them, or it would prove nothing. */
export const tampering: Readonly<Record<string, Tamper>> = {
  'unreadable lines are skipped': { transport: skippingBadLines },
  'deletions are not delivered': {
    client: (client) => onEvents(client, (events) => events.filter(({ type }) => type !== 'DELETED')),
  },
  'events are lost occasionally': {
    client: (client) => {
      let count = 0;
      return onEvents(client, (events) => events.filter(({ type }) => type === 'BOOKMARK' || ++count % 7 !== 0));
    },
  },
  'own writes are not visible': { forgetOwnWrites: true },
  'deleted objects stay in the lists': { client: neverForgetting },
  'every version is assumed to still exist': {
    client: (client) => ({
      watch: (resource, options) => client.watch(resource, options),
      async list<T extends KubernetesObject>(resource: Resource<T>, options?: ListOptions) {
        const list = await client.list(resource, options);
        if (options?.limit !== 1) return list;
        return { ...list, metadata: { ...list.metadata, resourceVersion: '9'.repeat(20) } };
      },
    }),
  },
};

function skippingBadLines(transport: Transport): Transport {
  return {
    host: transport.host,
    async request(request) {
      const response = await transport.request(request);
      return { ...response, body: readableLines(response.body) };
    },
    close: () => transport.close(),
    [Symbol.asyncDispose]: () => transport.close(),
  };
}

async function* readableLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    const lines = Buffer.from(chunk).toString().split('\n');
    const readable = lines.filter((line) => line !== '' && isJson(line));
    if (readable.length > 0) yield Buffer.from(`${readable.join('\n')}\n`);
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function neverForgetting(client: Client): Pick<Client, 'list' | 'watch'> {
  const seen = new Map<string, KubernetesObject>();
  return {
    watch: (resource, options) => client.watch(resource, options),
    async list<T extends KubernetesObject>(resource: Resource<T>, options?: ListOptions) {
      const list = await client.list(resource, options);
      for (const item of list.items) seen.set(keyString(keyOf(item)), item);
      return options?.labelSelector || options?.namespace || options?.limit === 1
        ? list
        : { ...list, items: [...seen.values()] as T[] };
    },
  };
}

function onEvents(
  client: Client,
  change: <T extends KubernetesObject>(events: readonly WatchEvent<T>[]) => readonly WatchEvent<T>[],
): Pick<Client, 'list' | 'watch'> {
  return {
    list: (resource, options) => client.list(resource, options),
    async watch<T extends KubernetesObject>(resource: Resource<T>, options?: WatchOptions): Promise<WatchStream<T>> {
      const stream = await client.watch(resource, options);
      async function* batches(): AsyncGenerator<readonly WatchEvent<T>[]> {
        for await (const batch of stream.batches()) yield change(batch);
      }
      return {
        batches,
        async *[Symbol.asyncIterator]() {
          for await (const batch of batches()) yield* batch;
        },
        aliveAt: () => stream.aliveAt(),
      };
    },
  };
}
