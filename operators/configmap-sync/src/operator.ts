import { ConfigMap } from '@bowline/kubernetes';
import { allow, defineOperator } from '@bowline/runtime';
import { ConfigMapSync } from './api/config-map-sync.ts';
import { config } from './config.ts';
import { cleanUp } from './configmapsync/cleanup.ts';
import { reconcile } from './configmapsync/reconcile.ts';
import { watching } from './configmapsync/watching.ts';
import type { Deps } from './deps.ts';
import { SyncMetrics } from './metrics.ts';

/** configMapSync is the operator: it keeps the copies of every ConfigMapSync as they should be. */
export const configMapSync = defineOperator({
  name: 'configmap-sync',
  resources: [ConfigMapSync],
  config,
  setup: ({ config, metrics, clock, namespaces, signal }): Deps => ({
    config,
    metrics: new SyncMetrics({ metrics, clock, perObject: config.perObjectMetrics, signal }),
    namespaces,
  }),
  controllers: [watching.reconcile(reconcile).cleanup(cleanUp)],
  // Copies are written where users say, under names that they choose; reading them follows from what is watched.
  permissions: [allow(['create', 'patch', 'delete'], ConfigMap)],
});
