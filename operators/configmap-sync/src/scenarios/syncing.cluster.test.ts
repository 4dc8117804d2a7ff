import { ConfigMap, Namespace } from '@bowline/kubernetes';
import { findCondition } from '@bowline/runtime';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ConfigMapSync } from '../api/config-map-sync.ts';
import { ANNOTATIONS, FINALIZER, LABELS, MANAGED_BY, MANAGER } from '../api/names.ts';
import { contentOf } from '../content/content.ts';
import { contentHash } from '../content/content-hash.ts';
import { type Scenario, startScenario } from './scenario.test-support.ts';

let c: Scenario;
beforeAll(async () => {
  c = await startScenario();
});
afterAll(() => c[Symbol.asyncDispose]());

it('scenario 01 creates a copy that equals its source, and sets every field of the status', async () => {
  const content = { data: { color: 'red', empty: '' }, binaryData: { blob: 'AAEC/w==' } };
  const source = await c.source('first', content);
  await c.sync('first');
  const sync = await c.untilReady('first');
  const copy = await c.admin.get(ConfigMap, c.to('first'));
  expect(copy).toMatchObject(content);
  expect(copy.immutable).toBeUndefined();
  const hash = contentHash(contentOf(source));
  const syncedAt = '2026-01-01T00:00:00Z';
  expect(copy.metadata?.labels).toEqual({
    [MANAGED_BY]: MANAGER,
    [LABELS.syncNamespace]: c.namespace,
    [LABELS.syncName]: 'first',
  });
  expect(copy.metadata?.annotations).toEqual({
    [ANNOTATIONS.source]: `${c.namespace}/first`,
    [ANNOTATIONS.sourceUid]: source.metadata?.uid,
    [ANNOTATIONS.syncUid]: sync.metadata?.uid,
    [ANNOTATIONS.sourceHash]: hash,
    [ANNOTATIONS.appliedHash]: hash,
    [ANNOTATIONS.managedKeys]: 'blob,color,empty',
    [ANNOTATIONS.syncedAt]: syncedAt,
  });
  expect(sync.metadata?.finalizers).toEqual([FINALIZER]);
  const { conditions, ...fields } = sync.status ?? {};
  expect(fields).toEqual({
    observedGeneration: 1,
    lastSyncTime: syncedAt,
    syncStatus: 'Success',
    message: 'the copy is in sync',
    sourceExists: true,
    destinationExists: true,
    retryCount: 0,
    sourceHash: hash,
    sourceResourceVersion: source.metadata?.resourceVersion,
    destinations: [{ ...c.to('first'), status: 'Synced', hash, lastSyncTime: syncedAt }],
    syncedCount: 1,
    totalCount: 1,
  });
  const reported = Object.fromEntries(
    (conditions ?? []).map(({ type, status, reason }) => [type, `${status} ${reason}`]),
  );
  expect(reported).toEqual({
    Ready: 'True AllComponentsReady',
    Synced: 'True SyncSucceeded',
    SourceAvailable: 'True SourceFound',
    Conflict: 'False None',
  });
  expect((await c.untilEvent('first', 'Created')).note).toContain(`${c.target}/first`);
});

it('scenario 02 applies changed, new and removed keys to the copy immediately', async () => {
  await c.source('edited', { data: { color: 'red', size: 'l' }, binaryData: { blob: 'AAEC' } });
  await c.sync('edited');
  await c.untilReady('edited');
  await c.clock.advance(1_000);
  const body = { data: { color: 'blue', size: null, shape: 'round' }, binaryData: null };
  const source = await c.admin.patch(ConfigMap, c.from('edited'), { type: 'merge', body });
  const copy = await c.until(ConfigMap, c.to('edited'), ({ data }) => data?.color === 'blue');
  expect(copy.data).toEqual({ color: 'blue', shape: 'round' });
  expect(copy.binaryData).toBeUndefined();
  const hash = contentHash(contentOf(source));
  expect(copy.metadata?.annotations).toMatchObject({
    [ANNOTATIONS.appliedHash]: hash,
    [ANNOTATIONS.managedKeys]: 'color,shape',
    [ANNOTATIONS.syncedAt]: '2026-01-01T00:00:01Z',
  });
  const sync = await c.until(ConfigMapSync, c.from('edited'), ({ status }) => status?.sourceHash === hash);
  expect(sync.status).toMatchObject({
    lastSyncTime: '2026-01-01T00:00:01Z',
    sourceResourceVersion: source.metadata?.resourceVersion,
  });
  await c.untilEvent('edited', 'Updated');
});

it('scenario 02 copies the first text and the first binary value of a source', async () => {
  await c.source('growing', {});
  await c.sync('growing');
  await c.untilReady('growing');
  for (const body of [{ data: { color: 'red' } }, { binaryData: { blob: 'AAEC' } }]) {
    const source = await c.admin.patch(ConfigMap, c.from('growing'), { type: 'merge', body });
    const hash = contentHash(contentOf(source));
    await c.until(ConfigMap, c.to('growing'), (copy) => contentHash(contentOf(copy)) === hash);
  }
  await c.untilReady('growing');
});

it('scenario 02 updates the source uid on the copy when the source is recreated', async () => {
  await c.source('anew');
  await c.sync('anew');
  await c.untilReady('anew');
  const before = await c.admin.get(ConfigMap, c.to('anew'));
  await c.admin.delete(ConfigMap, c.from('anew'));
  const { metadata } = await c.source('anew');
  const isMarked = ({ metadata: marked }: ConfigMap) => marked?.annotations?.[ANNOTATIONS.sourceUid] === metadata?.uid;
  const after = await c.until(ConfigMap, c.to('anew'), isMarked);
  expect(after.metadata?.uid).toBe(before.metadata?.uid);
  const syncedAt = (copy: ConfigMap) => copy.metadata?.annotations?.[ANNOTATIONS.syncedAt];
  expect(syncedAt(after)).toBe(syncedAt(before));
});

it('scenario 02 writes nothing when only metadata of the source changes', async () => {
  await c.source('labelled');
  await c.sync('labelled');
  const sync = await c.untilReady('labelled');
  const copy = await c.admin.get(ConfigMap, c.to('labelled'));
  await c.idle();
  const before = c.requests.length;
  await c.admin.patch(ConfigMap, c.from('labelled'), {
    type: 'merge',
    body: { metadata: { labels: { team: 'a' }, annotations: { note: 'b' } } },
  });
  await c.untilRequested(`get configmaps ${c.namespace}/labelled`, before);
  await c.idle();
  expect(await c.admin.get(ConfigMap, c.to('labelled'))).toEqual(copy);
  expect(await c.admin.get(ConfigMapSync, c.from('labelled'))).toEqual(sync);
});

it('scenario 04 recreates a deleted copy', async () => {
  await c.source('deleted');
  await c.sync('deleted');
  await c.untilReady('deleted');
  const { metadata } = await c.admin.get(ConfigMap, c.to('deleted'));
  await c.admin.delete(ConfigMap, c.to('deleted'));
  const again = await c.until(ConfigMap, c.to('deleted'), (copy) => copy.metadata?.uid !== metadata?.uid);
  expect(again.data).toEqual({ color: 'red' });
  expect(again.metadata?.labels).toEqual(metadata?.labels);
});

it('scenario 04 copies into a namespace as soon as it is created', async () => {
  const later = c.uniqueName('scenario-later');
  await c.source('later');
  await c.sync('later', {
    destinations: [
      { namespace: later, name: '' },
      { namespace: c.target, name: 'later' },
    ],
  });
  const waiting = await c.untilReady('later', 'NamespaceMissing');
  expect(findCondition(waiting, 'Ready')).toMatchObject({ status: 'False' });
  expect(findCondition(waiting, 'Synced')).toMatchObject({ status: 'False', reason: 'PartiallySynced' });
  expect(waiting.status).toMatchObject({ syncStatus: 'InProgress', syncedCount: 1, totalCount: 2 });
  expect(waiting.status?.destinations?.[0]).toMatchObject({ namespace: later, status: 'Pending' });
  await c.untilEvent('later', 'NamespaceMissing');
  await c.admin.create(Namespace, { metadata: { name: later } });
  await c.until(ConfigMap, { namespace: later, name: 'later' }, ({ data }) => data?.color === 'red');
  const sync = await c.untilReady('later');
  expect(sync.status).toMatchObject({ syncStatus: 'Success', syncedCount: 2, destinationExists: true });
});

it('scenario 05 reports a missing source, and syncs as soon as it is created', async () => {
  await c.sync('missing');
  const waiting = await c.untilReady('missing', 'SourceNotFound');
  const { message } = findCondition(waiting, 'SourceAvailable') ?? {};
  expect(findCondition(waiting, 'SourceAvailable')).toMatchObject({ status: 'False', reason: 'SourceNotFound' });
  expect(message).toContain(`${c.namespace}/missing does not exist; create it`);
  expect(waiting.status).toMatchObject({ sourceExists: false, destinationExists: false, syncedCount: 0 });
  await c.untilEvent('missing', 'SourceMissing');
  await c.source('missing');
  await c.until(ConfigMap, c.to('missing'), ({ data }) => data?.color === 'red');
  const sync = await c.untilReady('missing');
  expect(findCondition(sync, 'SourceAvailable')).toMatchObject({ status: 'True', reason: 'SourceFound' });
  expect(sync.status).toMatchObject({ sourceExists: true, destinationExists: true });
});
