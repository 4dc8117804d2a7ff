import { ConfigMap, Namespace } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { ConfigMapSync } from '../api/config-map-sync.ts';
import { ANNOTATIONS, FINALIZER, LABELS, MANAGED_BY, MANAGER } from '../api/names.ts';
import { syncCluster } from './sync-cluster.test-support.ts';

it('copies a ConfigMap, applies its changes, repairs the copy, and deletes it with the ConfigMapSync', async () => {
  await using c = await syncCluster();
  const { copied, source } = c;
  await c.sync({ destinationNamespace: copied.namespace });
  const synced = await c.untilReady();
  const copy = await c.admin.get(ConfigMap, copied);
  expect(copy).toMatchObject({
    data: { color: 'red' },
    binaryData: { blob: 'AAEC' },
    metadata: {
      labels: { [MANAGED_BY]: MANAGER, [LABELS.syncNamespace]: c.namespace, [LABELS.syncName]: 'settings' },
      annotations: { [ANNOTATIONS.source]: `${c.namespace}/settings`, [ANNOTATIONS.managedKeys]: 'blob,color' },
    },
  });
  expect(synced.metadata?.finalizers).toContain(FINALIZER);
  expect(synced.status).toMatchObject({ syncStatus: 'Success', syncedCount: 1, totalCount: 1, sourceExists: true });

  await c.admin.patch(ConfigMap, source, {
    type: 'merge',
    body: { data: { color: null, size: 'l' }, binaryData: null },
  });
  const followed = await c.until(ConfigMap, copied, ({ data }) => data?.size === 'l');
  expect(followed.data).toEqual({ size: 'l' });
  expect(followed.binaryData).toBeUndefined();

  await c.admin.patch(ConfigMap, copied, { type: 'merge', body: { data: { size: 's', extra: '1' } } });
  const repaired = await c.until(ConfigMap, copied, ({ data }) => data?.size === 'l');
  expect(repaired.data).toEqual({ size: 'l' });

  await c.admin.delete(ConfigMap, copied);
  await c.until(ConfigMap, copied, ({ metadata }) => metadata?.uid !== copy.metadata?.uid);

  await c.admin.delete(ConfigMapSync, source);
  await c.untilGone(ConfigMapSync, source);
  await c.untilGone(ConfigMap, copied);
});

it('uses a copy as the source of another copy, with and without its labels', async () => {
  await using c = await syncCluster();
  const { copied, source } = c;
  const further = { namespace: c.namespace, name: 'further' };
  await c.sync({ destinationNamespace: copied.namespace });
  await c.sync(
    { sourceNamespace: copied.namespace, destinations: [{ namespace: c.namespace, name: 'further' }] },
    'further',
  );
  await c.until(ConfigMap, further, ({ data }) => data?.color === 'red');
  await c.idle();
  await c.admin.patch(ConfigMap, source, { type: 'merge', body: { data: { color: 'blue' } } });
  await c.until(ConfigMap, further, ({ data }) => data?.color === 'blue');

  // A ConfigMap that stops being a copy, and then becomes one again, is still followed.
  await c.admin.patch(ConfigMapSync, source, { type: 'merge', body: { spec: { paused: true } } });
  await c.untilReady('Paused');
  await c.admin.patch(ConfigMap, copied, {
    type: 'merge',
    body: { metadata: { labels: { [MANAGED_BY]: null } }, data: { color: 'green' } },
  });
  await c.until(ConfigMap, further, ({ data }) => data?.color === 'green');
  await c.admin.patch(ConfigMap, copied, {
    type: 'merge',
    body: { metadata: { labels: { [MANAGED_BY]: MANAGER } }, data: { color: 'white' } },
  });
  await c.until(ConfigMap, further, ({ data }) => data?.color === 'white');
});

it('creates and deletes copies when the labels of namespaces change', async () => {
  await using c = await syncCluster();
  const { copied, source } = c;
  const label = { team: c.namespace };
  await c.sync({ destinationSelector: { matchLabels: label } });
  await c.untilReady();
  await c.admin.patch(Namespace, { name: copied.namespace }, { type: 'merge', body: { metadata: { labels: label } } });
  await c.until(ConfigMap, copied, ({ data }) => data?.color === 'red');
  await c.until(ConfigMapSync, source, ({ status }) => status?.syncedCount === 1);
  await c.admin.patch(
    Namespace,
    { name: copied.namespace },
    { type: 'merge', body: { metadata: { labels: { team: null } } } },
  );
  await c.untilGone(ConfigMap, copied);
  await c.until(ConfigMapSync, source, ({ status }) => status?.totalCount === 0);
});

it('backs up a ConfigMap before adopting it, and releases it with the ConfigMapSync', async () => {
  await using c = await syncCluster();
  const { copied, source } = c;
  await c.admin.create(ConfigMap, {
    metadata: { ...copied, labels: { [MANAGED_BY]: 'Helm' } },
    data: { color: 'old' },
  });
  await c.sync({ destinationNamespace: copied.namespace });
  await c.untilReady();
  expect(await c.admin.get(ConfigMap, copied)).toMatchObject({
    data: { color: 'red' },
    metadata: { annotations: { [ANNOTATIONS.adopted]: 'true' } },
  });
  const backup = await c.admin.get(ConfigMap, { namespace: copied.namespace, name: 'settings-before-sync' });
  expect(backup.data).toEqual({ color: 'old' });

  await c.admin.delete(ConfigMapSync, source);
  await c.untilGone(ConfigMapSync, source);
  const { metadata, data } = await c.admin.get(ConfigMap, copied);
  expect(data).toEqual({ color: 'red' });
  expect(metadata?.labels).toEqual({ [MANAGED_BY]: 'Helm' });
  expect(metadata?.annotations).toBeUndefined();
});

it('writes nothing when nothing changes, also after a restart', async () => {
  await using c = await syncCluster();
  const { copied, source } = c;
  await c.sync({ destinationNamespace: copied.namespace });
  const { metadata } = await c.untilReady();
  const copy = await c.admin.get(ConfigMap, copied);
  await c.idle();
  await c.restart();
  await c.idle();
  expect((await c.admin.get(ConfigMap, copied)).metadata?.resourceVersion).toBe(copy.metadata?.resourceVersion);
  const after = await c.admin.get(ConfigMapSync, source);
  expect(after.metadata?.resourceVersion).toBe(metadata?.resourceVersion);
});
