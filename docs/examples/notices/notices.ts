import { ConfigMap } from '@bowline/kubernetes';
import { Cache } from '@bowline/runtime/cache';
import type { Client } from '@bowline/runtime/client';
import { appliedView, createWriter, informerLookup, type Written } from '@bowline/runtime/writing';

/** On a notice: it is how we know our own. */
export const NOTICE = { 'example.com/notice': 'yes' };

/** Stands in the stored objects: another name would own their fields a second time. */
const FIELD_MANAGER = 'example-notices';

/**
 * postNotices puts a text into a ConfigMap of each namespace and says what it did there. It is a program that runs and ends,
 * with rights of its own; run again with the same text it writes nothing.
 */
export async function postNotices(
  client: Client,
  namespaces: readonly string[],
  text: string,
  signal: AbortSignal,
): Promise<readonly Written<ConfigMap>['outcome'][]> {
  const cache = new Cache({ client });
  // With our managed fields in it, the cache alone tells what would change: one list instead of a read for each notice.
  const view = appliedView<ConfigMap>(FIELD_MANAGER);
  const notices = cache.informer(ConfigMap, { namespaces, labelSelector: 'example.com/notice', view });
  const end = new AbortController();
  const running = cache.run(AbortSignal.any([signal, end.signal]));
  try {
    await notices.synced(signal);
    const { apply } = createWriter({
      client,
      fieldManager: FIELD_MANAGER,
      marks: { labels: NOTICE },
      lookup: informerLookup([notices]),
      signal,
    });
    const outcomes: Written<ConfigMap>['outcome'][] = [];
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
