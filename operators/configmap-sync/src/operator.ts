import { defineOperator } from '@bowline/runtime';
import { AccessReviews } from '@bowline/runtime/access';
import { ConfigMapSync } from './api/config-map-sync.ts';
import { OPERATOR } from './api/names.ts';
import { PERMISSIONS } from './authorization/permissions.ts';
import { config } from './config.ts';
import { cleanUp } from './configmapsync/cleanup.ts';
import { reconcile } from './configmapsync/reconcile.ts';
import { syncController } from './configmapsync/sync-controller.ts';
import type { Deps } from './deps.ts';
import { SyncMetrics } from './metrics.ts';
import { samples } from './samples.ts';
import { review } from './webhooks/validate.ts';

/** configMapSync is the operator: it keeps the copies of every ConfigMapSync in their desired state. */
export const configMapSync = defineOperator({
  ...OPERATOR,
  resources: [ConfigMapSync],
  config,
  setup: ({ config, client, clock, metrics, namespace, namespaces, signal }): Deps => ({
    config,
    metrics: new SyncMetrics({ metrics, clock, perObject: config.perObjectMetrics, signal }),
    reviews: new AccessReviews({ client, clock, local: namespaces !== undefined }),
    ownNamespace: namespace,
    namespaces,
  }),
  controllers: [syncController.reconcile(reconcile).cleanup(cleanUp)],
  webhooks: [review],
  samples,
  permissions: PERMISSIONS,
});
