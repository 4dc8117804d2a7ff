import type { Client } from '@bowline/runtime/client';

/** InFlight holds the current and the maximum number of calls in progress. */
export interface InFlight {
  current: number;
  max: number;
}

/** countingWrites returns a client that counts its creations and deletions in progress. */
export function countingWrites(client: Client, inFlight: InFlight): Client {
  const counted = async <T>(call: Promise<T>): Promise<T> => {
    inFlight.max = Math.max(inFlight.max, ++inFlight.current);
    try {
      return await call;
    } finally {
      inFlight.current--;
    }
  };
  const replaced: Pick<Client, 'create' | 'delete' | 'guarded' | 'checked' | 'withFieldManager' | 'onLeaseLane'> = {
    create: (kind, object, options) => counted(client.create(kind, object, options)),
    delete: (kind, key, options) => counted(client.delete(kind, key, options)),
    guarded: (guard) => countingWrites(client.guarded(guard), inFlight),
    checked: (check) => countingWrites(client.checked(check), inFlight),
    withFieldManager: (name) => countingWrites(client.withFieldManager(name), inFlight),
    onLeaseLane: () => client.onLeaseLane(),
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
