import { ConfigMap } from '@bowline/kubernetes';
import { Cache } from '@bowline/runtime/cache';
import type { Client } from '@bowline/runtime/client';
import { appliedView, createWriter, informerLookup, type WriteResult } from '@bowline/runtime/writing';

/** NOTICE is the label that identifies our notices. */
export const NOTICE = { 'example.com/notice': 'yes' };

/** Stored in the objects: with another name, their fields would have two owners. */
const FIELD_MANAGER = 'example-notices';

/**
 * postNotices writes a text to a ConfigMap in each namespace, and returns the outcomes. It is a program that runs once,
 * with its own permissions; when run again with the same text, it writes nothing.
 */
export async function postNotices(
  client: Client,
  namespaces: readonly string[],
  text: string,
  signal: AbortSignal,
): Promise<readonly WriteResult<ConfigMap>['outcome'][]> {
  const cache = new Cache({ client });
  // With our managed fields, the cache is enough to compute changes: one list instead of one read per notice.
  const view = appliedView<ConfigMap>(FIELD_MANAGER);
  const notices = cache.informer(ConfigMap, { namespaces, labelSelector: 'example.com/notice', view });
  const end = new AbortController();
  const running = cache.run(AbortSignal.any([signal, end.signal]));
  try {
    await notices.synced(signal);
    const { apply } = createWriter({
      client,
      fieldManager: FIELD_MANAGER,
      ownership: { labels: NOTICE },
      lookup: informerLookup([notices]),
      signal,
    });
    const outcomes: WriteResult<ConfigMap>['outcome'][] = [];
    for (const namespace of namespaces) {
      const { outcome } = await apply(ConfigMap, { metadata: { namespace, name: 'notice' }, data: { text } });
      outcomes.push(outcome);
    }
    return outcomes;
  } finally {
    end.abort();
    await running;
  }
}
