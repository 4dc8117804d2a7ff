import type { Client } from '@bowline/runtime/client';
import { wrapClient } from '../../../../test/support/wrap-client.ts';

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
  return wrapClient(client, (wrapped) => ({
    create: (kind, object, options) => counted(wrapped.create(kind, object, options)),
    delete: (kind, key, options) => counted(wrapped.delete(kind, key, options)),
    onLeaseLane: () => wrapped.onLeaseLane(),
  }));
}
