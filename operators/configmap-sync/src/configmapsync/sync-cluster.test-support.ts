import { type Cluster, cluster, type OperatorsOptions, type RunningOperators } from '@bowline/control-plane/testing';
import { ConfigMap, type ObjectKey } from '@bowline/kubernetes';
import { findCondition } from '@bowline/runtime';
import type { WrittenOf } from '@bowline/runtime/resource';
import { ConfigMapSync } from '../api/config-map-sync.ts';
import { configMapSync } from '../operator.ts';

/** SyncCluster is a test cluster with the operator, a source to copy, and a namespace for a copy. */
export interface SyncCluster extends Cluster, RunningOperators {
  /** The key of the source, and of its ConfigMapSync. */
  readonly source: ObjectKey;
  /** The key of the expected copy. */
  readonly copied: ObjectKey & { readonly namespace: string };
  /** sync creates a ConfigMapSync of the source. */
  sync(spec: Partial<WrittenOf<typeof ConfigMapSync>['spec']>, name?: string): Promise<ConfigMapSync>;
  /** untilReady waits for a reason of the condition Ready. */
  untilReady(reason?: string, name?: string): Promise<ConfigMapSync>;
}

/** syncCluster starts the operator with a source `settings`; copies have the same name. */
export async function syncCluster(options: Partial<OperatorsOptions> = {}): Promise<SyncCluster> {
  const c = await cluster({
    operators: [configMapSync],
    config: { 'configmap-sync': { trustAllAuthors: true } },
    prefix: 'cms',
    ...options,
  });
  const { namespace } = c;
  const source = { namespace, name: 'settings' };
  await c.admin.create(ConfigMap, { metadata: source, data: { color: 'red' }, binaryData: { blob: 'AAEC' } });
  const copied = { namespace: await c.createNamespace('cms-target'), name: 'settings' };
  const more: Pick<SyncCluster, 'source' | 'copied' | 'sync' | 'untilReady'> = {
    source,
    copied,
    sync: (spec, name = 'settings') =>
      c.admin.create(
        ConfigMapSync,
        ConfigMapSync.withDefaults({
          metadata: { namespace, name },
          spec: { sourceNamespace: namespace, configMapName: 'settings', ...spec },
        }),
      ),
    untilReady: (reason = 'AllComponentsReady', name = 'settings') =>
      c.until(ConfigMapSync, { name }, (sync) => findCondition(sync, 'Ready')?.reason === reason),
  };
  return Object.defineProperties({ ...c, ...more }, Object.getOwnPropertyDescriptors(c));
}
