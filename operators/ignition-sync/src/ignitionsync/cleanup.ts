import { ConfigMap, keyString } from '@bowline/kubernetes';
import { objectNames } from '../api/names.ts';
import { labelsOf } from './provide-objects.ts';
import type { SyncContext } from './sync-controller.ts';

/**
 * cleanUp ends the git operations of an IgnitionSync and removes its ConfigMaps, after which agents leave every file unchanged.
 * The other objects are removed by the garbage collector, or kept if their owner is deleted with --cascade=orphan.
 */
export async function cleanUp({ key, deps, remove }: SyncContext): Promise<void> {
  deps.sources.release(keyString(key));
  const { metadata, status, changes } = objectNames(key.name);
  const labels = labelsOf(key.name);
  for (const name of [metadata, status, changes]) {
    await remove(ConfigMap, { namespace: key.namespace, name }, { labels });
  }
  deps.memory.forget(key);
  deps.metrics.forget(key);
}
