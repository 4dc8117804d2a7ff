import { ConfigMapSync, configMapSync } from '@bowline/configmap-sync';
import { ConfigMap, RoleBinding, ServiceAccount } from '@bowline/kubernetes';
import { findCondition } from '@bowline/runtime';
import type { Scenario, Stage } from '../scenario.ts';
import { untilEvent } from '../until-event.ts';

const ACCOUNT = 'copier';

/** A copy is created for an account that may create it, follows its source twice, and is deleted with the ConfigMapSync. */
async function play(stage: Stage): Promise<void> {
  const { admin, namespace } = stage;
  const target = await stage.createNamespace('configmap-sync-target');
  const key = { namespace, name: 'settings' };
  const copied = { namespace: target, name: 'settings' };
  await admin.create(ServiceAccount, { metadata: { namespace, name: ACCOUNT } });
  for (const place of [namespace, target]) await grantAll(stage, place);
  const paint = (color: string) => admin.patch(ConfigMap, key, { type: 'merge', body: { data: { color } } });

  await admin.create(ConfigMap, { metadata: key, data: { color: 'red' } });
  const spec = {
    sourceNamespace: namespace,
    configMapName: key.name,
    destinationNamespace: target,
    serviceAccountName: ACCOUNT,
  };
  await admin.create(ConfigMapSync, ConfigMapSync.withDefaults({ metadata: key, spec }));
  await stage.until(ConfigMap, copied, ({ data }) => data?.color === 'red');
  await stage.until(ConfigMapSync, key, (sync) => findCondition(sync, 'Ready')?.status === 'True');
  for (const [index, color] of ['green', 'blue'].entries()) {
    // The same event in two runs without a pause between them is sent once.
    await stage.idle();
    await paint(color);
    await stage.until(ConfigMap, copied, ({ data }) => data?.color === color);
    await untilEvent(stage, 'Updated', index + 1);
  }
  await admin.delete(ConfigMapSync, key);
  await stage.untilGone(ConfigMapSync, key);
  await stage.untilGone(ConfigMap, copied);
}

/**
 * grantAll grants the account everything in a namespace, and waits until the API server honours it: a denial is cached for 30 s.
 */
async function grantAll({ admin, namespace }: Stage, place: string): Promise<void> {
  await admin.create(RoleBinding, {
    metadata: { namespace: place, name: ACCOUNT },
    subjects: [{ kind: 'ServiceAccount', namespace, name: ACCOUNT }],
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
  });
  const account = { user: `system:serviceaccount:${namespace}:${ACCOUNT}` };
  const question = { verb: 'create', resource: 'configmaps', namespace: place };
  while (!(await admin.canSubject(account, question)).allowed);
}

export const configMapSyncScenario: Scenario = { operator: configMapSync, open: () => ({ play }) };
