import { ConfigMap, Namespace, ResourceQuota, Role, RoleBinding, ServiceAccount } from '@bowline/kubernetes';
import { VirtualClock } from '@bowline/machinery';
import { findCondition } from '@bowline/runtime';
import { expect, it } from 'vitest';
import { ConfigMapSync } from '../api/config-map-sync.ts';
import { configMapSync } from '../operator.ts';
import { syncCluster } from './sync-cluster.test-support.ts';

const merge = (body: object) => ({ type: 'merge', body }) as const;

it('waits for its source and its namespaces, and continues when they are created', async () => {
  await using c = await syncCluster();
  const { source, copied } = c;
  await c.admin.delete(ConfigMap, source);
  const later = c.uniqueName('cms-later');
  await c.sync({ destinations: [{ namespace: copied.namespace }, { namespace: later }] });
  const waiting = await c.untilReady('SourceNotFound');
  expect(findCondition(waiting, 'SourceAvailable')).toMatchObject({ status: 'False', reason: 'SourceNotFound' });
  await c.admin.create(ConfigMap, { metadata: source, data: { color: 'red' } });
  const half = await c.untilReady('NamespaceMissing');
  expect(half.status).toMatchObject({ syncedCount: 1, totalCount: 2, syncStatus: 'InProgress' });
  await c.admin.create(Namespace, { metadata: { name: later } });
  c.onDispose(() => c.admin.delete(Namespace, { name: later }));
  await c.untilReady();
  expect((await c.admin.get(ConfigMap, { namespace: later, name: 'settings' })).data).toEqual({ color: 'red' });
});

it('syncs the other copies when a namespace rejects one, and retries later', async () => {
  const clock = new VirtualClock();
  await using c = await syncCluster({ clock });
  const { copied } = c;
  const full = { namespace: await c.createNamespace('cms-full'), name: 'nothing-more' };
  await c.admin.create(ResourceQuota, { metadata: full, spec: { hard: { configmaps: '0' } } });
  await c.until(ResourceQuota, full, ({ status }) => status?.hard?.configmaps === '0');
  await c.sync({ destinations: [{ namespace: full.namespace }, { namespace: copied.namespace }] });
  const failed = await c.untilReady('SyncFailed');
  expect(failed.status).toMatchObject({ syncedCount: 1, totalCount: 2, syncStatus: 'Failed', retryCount: 1 });
  expect(failed.status?.destinations?.[0]).toMatchObject({ namespace: full.namespace, reason: 'Forbidden' });
  expect(findCondition(failed, 'Synced')).toMatchObject({ status: 'False', reason: 'PartiallySynced' });
  await clock.advance(40_000);
  await c.until(ConfigMapSync, c.source, ({ status }) => status?.retryCount === 2);
  await c.admin.delete(ResourceQuota, full);
  await clock.advance(80_000);
  const healed = await c.untilReady();
  expect(healed.status?.retryCount).toBe(0);
});

it('keeps or deletes the copies of a deleted source, according to sourceDeletionPolicy', async () => {
  await using c = await syncCluster();
  const { source, copied } = c;
  await c.sync({ destinationNamespace: copied.namespace });
  await c.untilReady();
  await c.admin.delete(ConfigMap, source);
  await c.untilReady('SourceNotFound');
  await c.admin.get(ConfigMap, copied);
  await c.admin.patch(ConfigMapSync, source, merge({ spec: { sourceDeletionPolicy: 'Delete' } }));
  await c.untilGone(ConfigMap, copied);
});

it('reports a cycle on its youngest ConfigMapSync, and continues when another is deleted', async () => {
  // Without its webhook, which refuses a cycle that it can see: two concurrent authors can get past it.
  await using c = await syncCluster({ operators: [{ ...configMapSync, webhooks: [] }] });
  const { source, copied } = c;
  await c.sync({ destinationNamespace: copied.namespace }, 'first');
  await c.untilReady('AllComponentsReady', 'first');
  await c.sync({ sourceNamespace: copied.namespace, destinationNamespace: source.namespace }, 'second');
  const second = await c.untilReady('CycleDetected', 'second');
  expect(findCondition(second, 'Stalled')).toMatchObject({ status: 'True', reason: 'CycleDetected' });
  await c.idle();
  await c.untilReady('AllComponentsReady', 'first');
  expect((await c.admin.get(ConfigMap, source)).metadata?.labels).toBeUndefined();
  await c.admin.delete(ConfigMapSync, { ...source, name: 'first' });
  await c.untilReady('SourceNotFound', 'second');
});

it('does nothing for an author who was not reviewed', async () => {
  await using c = await syncCluster({ operators: [{ ...configMapSync, webhooks: [] }], config: {} });
  await c.sync({ destinationNamespace: c.copied.namespace });
  await c.untilReady('AuthorNotReviewed');
  expect(await c.admin.find(ConfigMap, c.copied)).toBeUndefined();
});

it('reports an invalid spec that bypassed the webhook, and keeps the copy', async () => {
  await using c = await syncCluster();
  const { source, copied } = c;
  await c.sync({ destinationNamespace: copied.namespace, transforms: [{ rename: { from: 'a', to: 'color' } }] });
  await c.untilReady();
  await c.admin.patch(ConfigMap, source, merge({ data: { a: 'collides' } }));
  const invalid = await c.untilReady('InvalidSpec');
  expect(findCondition(invalid, 'Stalled')).toMatchObject({ status: 'True', reason: 'InvalidSpec' });
  expect(invalid.status?.message).toContain('spec.transforms[0]');
  expect((await c.admin.get(ConfigMap, copied)).data).toEqual({ color: 'red' });
});

it('does nothing for an account without permissions, and continues when they are granted', async () => {
  const clock = new VirtualClock();
  await using c = await syncCluster({ clock });
  const { copied, namespace } = c;
  await c.sync({ destinationNamespace: copied.namespace, serviceAccountName: 'worker' });
  await c.untilReady('ServiceAccountNotFound');
  await c.admin.create(ServiceAccount, { metadata: { namespace, name: 'worker' } });
  await clock.advance(31_000);
  const refused = await c.untilReady('InsufficientPermissions');
  expect(findCondition(refused, 'Authorized')).toMatchObject({ status: 'False', reason: 'InsufficientPermissions' });
  expect(await c.admin.find(ConfigMap, copied)).toBeUndefined();
  for (const place of [namespace, copied.namespace]) {
    const metadata = { namespace: place, name: 'worker' };
    const verbs = ['get', 'create', 'update', 'delete'];
    await c.admin.create(Role, { metadata, rules: [{ apiGroups: [''], resources: ['configmaps'], verbs }] });
    await c.admin.create(RoleBinding, {
      metadata,
      subjects: [{ kind: 'ServiceAccount', namespace, name: 'worker' }],
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'worker' },
    });
  }
  await clock.advance(31_000);
  const granted = await c.untilReady();
  expect(findCondition(granted, 'Authorized')).toMatchObject({ status: 'True', reason: 'Granted' });
});
