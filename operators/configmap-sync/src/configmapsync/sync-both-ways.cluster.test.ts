import { ConfigMap, type ObjectKey } from '@bowline/kubernetes';
import { findCondition } from '@bowline/runtime';
import { expect, it } from 'vitest';
import { ConfigMapSync } from '../api/config-map-sync.ts';
import { ANNOTATIONS, REQUESTS } from '../api/names.ts';
import { type SyncCluster, syncCluster } from '../configmapsync/sync-cluster.test-support.ts';

const edit = (c: SyncCluster, key: ObjectKey, data: Record<string, string | null>) =>
  c.admin.patch(ConfigMap, key, { type: 'merge', body: { data } });

const untilData = (c: SyncCluster, key: ObjectKey, name: string, value: string | undefined) =>
  c.until(ConfigMap, key, ({ data }) => data?.[name] === value);

async function start(conflictPolicy: 'SourceWins' | 'NewestWins' | 'Manual' = 'SourceWins') {
  const c = await syncCluster();
  await c.sync({ destinationNamespace: c.copied.namespace, direction: 'Bidirectional', conflictPolicy });
  await c.untilReady();
  return c;
}

it('applies edits of either side to the other, and merges edits of different keys', async () => {
  await using c = await start();
  const { source, copied } = c;
  expect((await c.admin.get(ConfigMap, copied)).metadata?.annotations).toHaveProperty([ANNOTATIONS.base]);
  await edit(c, copied, { color: 'blue', shape: 'round' });
  await untilData(c, source, 'color', 'blue');
  await edit(c, source, { shape: null, size: 'l' });
  const after = await untilData(c, copied, 'size', 'l');
  expect(after.data).toEqual({ color: 'blue', size: 'l' });

  await c.stop();
  await edit(c, source, { size: 'm' });
  await edit(c, copied, { color: 'green' });
  await c.restart();
  await untilData(c, source, 'color', 'green');
  await untilData(c, copied, 'size', 'm');
  await c.untilReady();
});

it('lets the newest edit of a key win', async () => {
  await using c = await start('NewestWins');
  const { source, copied } = c;
  await c.idle();
  await c.stop();
  await edit(c, source, { color: 'older' });
  await edit(c, copied, { color: 'newer' });
  await c.restart();
  await untilData(c, source, 'color', 'newer');
});

it('does not change a conflicting key until the resolve annotation is set', async () => {
  await using c = await start('Manual');
  const { source, copied } = c;
  await c.idle();
  await c.stop();
  await edit(c, source, { color: 'left', same: '1' });
  await edit(c, copied, { color: 'right' });
  await c.restart();
  const sync = await c.untilReady('KeyConflict');
  expect(findCondition(sync, 'Conflict')).toMatchObject({ status: 'True', reason: 'KeyConflict' });
  expect((await untilData(c, copied, 'same', '1')).data?.color).toBe('right');
  expect((await c.admin.get(ConfigMap, source)).data?.color).toBe('left');

  const annotations = { [REQUESTS.resolve]: 'Destination' };
  await c.admin.patch(ConfigMapSync, source, { type: 'merge', body: { metadata: { annotations } } });
  await untilData(c, source, 'color', 'right');
  const resolved = await c.until(ConfigMapSync, source, ({ metadata }) => !metadata?.annotations?.[REQUESTS.resolve]);
  expect(resolved.metadata?.annotations).toBeUndefined();
  await c.untilReady();
});

it('recreates either side from the other', async () => {
  await using c = await start();
  const { source, copied } = c;
  await c.admin.delete(ConfigMap, copied);
  await untilData(c, copied, 'color', 'red');
  await c.idle();
  await c.admin.delete(ConfigMap, source);
  const again = await untilData(c, source, 'color', 'red');
  expect(again.binaryData).toEqual({ blob: 'AAEC' });
});

it('backs up the content that either side would lose if both existed before', async () => {
  await using c = await syncCluster();
  const { source, copied } = c;
  await c.admin.create(ConfigMap, { metadata: copied, data: { color: 'old', more: '1' } });
  await c.sync({ destinationNamespace: copied.namespace, direction: 'Bidirectional' });
  await c.untilReady();
  expect((await c.admin.get(ConfigMap, copied)).data).toEqual({ color: 'red', more: '1' });
  expect((await c.admin.get(ConfigMap, source)).data).toEqual({ color: 'red', more: '1' });
  const saved = await c.admin.get(ConfigMap, { ...copied, name: 'settings-before-sync' });
  expect(saved.data).toEqual({ color: 'old', more: '1' });
});
