import { ConfigMap } from '@bowline/kubernetes';
import { findCondition } from '@bowline/runtime';
import { expect, it } from 'vitest';
import { ConfigMapSync } from '../api/config-map-sync.ts';
import { ANNOTATIONS, LABELS, REQUESTS } from '../api/names.ts';
import { syncCluster } from './sync-cluster.test-support.ts';

const merge = (body: object) => ({ type: 'merge', body }) as const;

it('keeps an edited copy until the sync is forced', async () => {
  await using c = await syncCluster();
  const { source, copied } = c;
  await c.sync({ destinationNamespace: copied.namespace, conflictPolicy: 'SkipIfModified' });
  await c.untilReady();
  await c.admin.patch(ConfigMap, copied, merge({ data: { color: 'mine' } }));
  const skipped = await c.untilReady('DestinationModified');
  expect(findCondition(skipped, 'Conflict')).toMatchObject({ status: 'True', reason: 'DestinationModified' });
  expect(skipped.status?.destinations).toMatchObject([{ status: 'Conflict', reason: 'DestinationModified' }]);

  const annotations = { [REQUESTS.forceSync]: 'now' };
  await c.admin.patch(ConfigMapSync, source, merge({ metadata: { annotations } }));
  await c.until(ConfigMap, copied, ({ data }) => data?.color === 'red');
  const forced = await c.untilReady();
  expect(forced.status?.lastHandledForceSync).toBe('now');
  await c.admin.patch(ConfigMap, copied, merge({ data: { color: 'again' } }));
  await c.untilReady('DestinationModified');
});

it('merges keys into a copy, and removes only its own', async () => {
  await using c = await syncCluster();
  const { source, copied } = c;
  await c.sync({ destinationNamespace: copied.namespace, conflictPolicy: 'Merge' });
  await c.untilReady();
  await c.admin.patch(ConfigMap, copied, merge({ data: { color: 'drift', theirs: '1', size: 'theirs' } }));
  await c.until(ConfigMap, copied, ({ data }) => data?.color === 'red');
  await c.admin.patch(ConfigMap, source, merge({ data: { color: null, shape: 'round', size: 'l' }, binaryData: null }));
  const merged = await c.until(ConfigMap, copied, ({ data }) => data?.shape === 'round');
  expect(merged.data).toEqual({ shape: 'round', theirs: '1', size: 'theirs' });
  const sync = await c.untilReady('KeyConflict');
  expect(sync.status?.message).toContain('size');
  await c.admin.patch(ConfigMap, copied, merge({ data: { size: null } }));
  await c.until(ConfigMap, copied, ({ data }) => data?.size === 'l');
  await c.untilReady();
});

it('does not change the copy of another ConfigMapSync, and takes it over when that is deleted', async () => {
  await using c = await syncCluster();
  const { copied } = c;
  await c.sync({ destinationNamespace: copied.namespace }, 'first');
  await c.untilReady('AllComponentsReady', 'first');
  await c.sync(
    { destinationNamespace: copied.namespace, transforms: [{ set: { key: 'by', value: 'second' } }] },
    'second',
  );
  await c.untilReady('DestinationOwnedByAnother', 'second');
  await c.admin.delete(ConfigMapSync, { namespace: c.namespace, name: 'first' });
  await c.untilReady('AllComponentsReady', 'second');
  const copy = await c.admin.get(ConfigMap, copied);
  expect(copy.data).toEqual({ color: 'red', by: 'second' });
  expect(copy.metadata?.labels?.[LABELS.syncName]).toBe('second');
});

it('recreates an immutable copy that it created, and does not change one that existed before', async () => {
  await using c = await syncCluster();
  const { source, copied } = c;
  const other = { ...copied, name: 'other' };
  await c.admin.create(ConfigMap, { metadata: other, data: { precious: '1' }, immutable: true });
  await c.sync({ destinations: [{ namespace: copied.namespace }, { namespace: copied.namespace, name: 'other' }] });
  const sync = await c.untilReady('DestinationImmutable');
  expect(sync.status).toMatchObject({ syncedCount: 1, totalCount: 2 });
  const before = await c.admin.patch(
    ConfigMap,
    copied,
    merge({ immutable: true, metadata: { labels: { keep: 'me' } } }),
  );
  await c.admin.patch(ConfigMap, source, merge({ data: { color: 'blue' } }));
  const after = await c.until(ConfigMap, copied, ({ data }) => data?.color === 'blue');
  expect(after.metadata?.uid).not.toBe(before.metadata?.uid);
  expect(after.metadata?.labels).toMatchObject({ keep: 'me' });
  expect(after.immutable).toBeUndefined();
  expect((await c.admin.get(ConfigMap, other)).data).toEqual({ precious: '1' });
});

it('does not change an existing ConfigMap with adoptExisting: false, and copies when it is deleted', async () => {
  await using c = await syncCluster();
  const { copied } = c;
  await c.admin.create(ConfigMap, { metadata: copied, data: { precious: '1' } });
  await c.sync({ destinationNamespace: copied.namespace, adoptExisting: false });
  await c.untilReady('DestinationExists');
  expect((await c.admin.get(ConfigMap, copied)).data).toEqual({ precious: '1' });
  await c.admin.delete(ConfigMap, copied);
  const copy = await c.until(ConfigMap, copied, ({ data }) => data?.color === 'red');
  expect(copy.metadata?.annotations).not.toHaveProperty([ANNOTATIONS.adopted]);
});
