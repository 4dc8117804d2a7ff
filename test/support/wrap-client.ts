import type { Client, WatchEvent, WatchStream } from '@bowline/runtime/client';

/**
 * wrapClient returns a client with some methods replaced, to observe or disturb the calls of an operator. The clients that
 * are derived from it are wrapped too. `replace` gets the client whose methods it replaces.
 */
export function wrapClient(client: Client, replace: (client: Client) => Partial<Client>): Client {
  const wrap = (derived: Client): Client => wrapClient(derived, replace);
  const replaced: Partial<Client> = {
    guarded: (guard) => wrap(client.guarded(guard)),
    checked: (check) => wrap(client.checked(check)),
    withFieldManager: (name) => wrap(client.withFieldManager(name)),
    onLeaseLane: () => wrap(client.onLeaseLane()),
    ...replace(client),
  };
  return new Proxy(client, {
    get(target, name) {
      if (Object.hasOwn(replaced, name)) return replaced[name as keyof Client];
      const member: unknown = Reflect.get(target, name, target);
      // A method accesses its private state through the client itself, not through this proxy.
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

type Batches<T> = AsyncIterable<readonly WatchEvent<T>[]>;

/** transformWatch returns a watch whose events pass through a function. */
export function transformWatch<T>(
  stream: WatchStream<T>,
  transform: (batches: Batches<T>) => Batches<T>,
): WatchStream<T> {
  const batches = (): Batches<T> => transform(stream.batches());
  return {
    batches,
    async *[Symbol.asyncIterator]() {
      for await (const batch of batches()) yield* batch;
    },
    aliveAt: () => stream.aliveAt(),
  };
}
