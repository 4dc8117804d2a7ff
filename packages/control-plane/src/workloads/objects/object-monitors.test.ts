import { setImmediate } from 'node:timers/promises';
import { ConfigMap, type KubernetesObject } from '@bowline/kubernetes';
import { seededRandom, systemClock, untilAborted } from '@bowline/machinery';
import type { Client, WatchEvent } from '@bowline/runtime/client';
import { silentLog } from '@bowline/runtime/manager';
import { expect, it } from 'vitest';
import { ObjectMonitors } from './object-monitors.ts';

/** A server that streams the given list, and whose watches then stay open. */
function serving(objects: readonly KubernetesObject[]): Pick<Client, 'list' | 'watch'> {
  const end = { metadata: { resourceVersion: '9', annotations: { 'k8s.io/initial-events-end': 'true' } } };
  return {
    list: () => Promise.reject(new Error('the list is streamed')),
    watch: (_, options = {}) => {
      const events = [
        ...objects.map((object) => ({ type: 'ADDED', object })),
        { type: 'BOOKMARK', object: end },
      ] as unknown as WatchEvent<never>[];
      async function* batches(): AsyncGenerator<WatchEvent<never>[]> {
        yield events;
        if (options.signal) await untilAborted(options.signal);
        throw new Error('over');
      }
      return Promise.resolve({
        batches,
        aliveAt: () => systemClock.monotonic(),
        [Symbol.asyncIterator]: () => never(),
      });
    },
  };
}

function never(): never {
  throw new Error('only batches are read');
}

it('passes on tracked, owned and terminating objects, and only the uids of all others', async () => {
  const named = (name: string, more = {}): KubernetesObject => ({
    metadata: { name, namespace: 'a', uid: name, resourceVersion: '5', ...more },
  });
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'known', uid: 'known' };
  const client = serving([
    named('alone'),
    named('known'),
    named('owned', { ownerReferences: [owner] }),
    named('going', { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['orphan'] }),
  ]);
  const seen: string[] = [];
  const complete: (readonly string[])[] = [];
  const monitors = new ObjectMonitors({
    client,
    wire: systemClock,
    random: seededRandom(1),
    log: silentLog,
    observer: {
      upserted: (_, { name }) => seen.push(name),
      deleted: () => undefined,
      isTracked: (uid) => uid === 'known',
      listed: (_, uids) => complete.push([...uids]),
    },
  });
  const all = ['alone', 'known', 'owned', 'going'];
  monitors.watch([ConfigMap]);
  await monitors.synced(new AbortController().signal);
  expect(seen).toEqual(['known', 'owned', 'going']);
  expect(complete).toEqual([all]);
  // In another version it is the same kind; without any version its objects are gone.
  monitors.watch([{ ...ConfigMap, version: 'v2', id: 'ConfigMap.v2.' }]);
  await monitors.synced(new AbortController().signal);
  // The end of the first watch takes no time, but one turn of the event loop.
  await setImmediate();
  expect(complete).toEqual([all, all]);
  monitors.watch([]);
  await monitors.stop();
  expect(complete).toEqual([all, all, []]);
});
