import { ConfigMap } from '@bowline/kubernetes';
import { findCondition } from '@bowline/runtime';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ConfigMapSync } from '../api/config-map-sync.ts';
import { ANNOTATIONS, LABELS, MANAGED_BY } from '../api/names.ts';
import { type Scenario, startScenario } from './scenario.test-support.ts';

/** The number of deletions that the operator may still make before it is killed. */
let deletionsLeft = Number.POSITIVE_INFINITY;
let isKilled = false;

let c: Scenario;
beforeAll(async () => {
  c = await startScenario({
    wrapClient: (client) =>
      client.checked(({ verb, resource }) => {
        if (verb === 'delete' && resource?.id === ConfigMap.id && deletionsLeft-- <= 0) isKilled = true;
        // The Lease is released anyway, or the next process would have to wait until it expires.
        if (isKilled && resource?.plural !== 'leases') throw new Error('the process was killed');
      }),
  });
});
afterAll(() => c[Symbol.asyncDispose]());

async function remove(name: string): Promise<void> {
  await c.admin.delete(ConfigMapSync, c.from(name));
  await c.untilGone(ConfigMapSync, c.from(name));
}

it('scenario 06 deletes only the copies that it created with the ConfigMapSync', async () => {
  await c.source('delete');
  const bystander = await c.admin.create(ConfigMap, { metadata: c.to('bystander'), data: { color: 'red' } });
  const destinations = ['delete', 'delete-2'].map((name) => ({ namespace: c.target, name }));
  await c.sync('delete', { destinations });
  await c.untilReady('delete');
  await remove('delete');
  for (const copy of destinations) expect(await c.admin.find(ConfigMap, copy)).toBeUndefined();
  expect(await c.admin.get(ConfigMap, c.to('bystander'))).toEqual(bystander);
  expect((await c.admin.get(ConfigMap, c.from('delete'))).data).toEqual({ color: 'red' });
});

it('scenario 06 keeps a copy that another client has relabeled', async () => {
  await c.source('taken');
  await c.sync('taken');
  await c.untilReady('taken');
  await c.idle();
  await c.stop();
  const labels = { [LABELS.syncName]: 'somebody-else' };
  await c.admin.patch(ConfigMap, c.to('taken'), { type: 'merge', body: { metadata: { labels } } });
  await c.admin.delete(ConfigMapSync, c.from('taken'));
  await c.restart();
  await c.untilGone(ConfigMapSync, c.from('taken'));
  expect((await c.admin.get(ConfigMap, c.to('taken'))).data).toEqual({ color: 'red' });
});

it('scenario 06 keeps the copies, without its labels and annotations, with Orphan', async () => {
  await c.source('orphan');
  await c.sync('orphan', { deletionPolicy: 'Orphan' });
  await c.untilReady('orphan');
  const before = await c.admin.get(ConfigMap, c.to('orphan'));
  await remove('orphan');
  const { metadata, data } = await c.admin.get(ConfigMap, c.to('orphan'));
  expect(metadata?.uid).toBe(before.metadata?.uid);
  expect(metadata?.labels).toBeUndefined();
  expect(metadata?.annotations).toBeUndefined();
  expect(data).toEqual({ color: 'red' });
});

it('scenario 06 releases an adopted object, and keeps the backup of its content', async () => {
  await c.source('adopt');
  const labels = { [MANAGED_BY]: 'Helm', own: 'yes' };
  const annotations = { note: 'own' };
  const metadata = { ...c.to('adopt'), labels, annotations };
  const found = await c.admin.create(ConfigMap, { metadata, data: { color: 'old', more: '1' } });
  await c.sync('adopt');
  await c.untilReady('adopt');
  const adopted = await c.admin.get(ConfigMap, c.to('adopt'));
  expect(adopted.data).toEqual({ color: 'red' });
  expect(adopted.metadata?.annotations).toMatchObject({ [ANNOTATIONS.adopted]: 'true', note: 'own' });
  await c.untilEvent('adopt', 'Adopted');

  await remove('adopt');
  const after = await c.admin.get(ConfigMap, c.to('adopt'));
  expect(after.metadata?.uid).toBe(found.metadata?.uid);
  expect(after.metadata).toMatchObject({ labels, annotations });
  expect(Object.keys(after.metadata?.labels ?? {})).toHaveLength(2);
  expect(Object.keys(after.metadata?.annotations ?? {})).toHaveLength(1);
  expect(after.data).toEqual({ color: 'red' });
  const backup = await c.admin.get(ConfigMap, c.to('adopt-before-sync'));
  expect(backup.data).toEqual({ color: 'old', more: '1' });
});

it('scenario 06 resumes the deletion of 100 copies after it was killed', async () => {
  const selection = { namespace: c.target, labelSelector: `${LABELS.syncName}=kill` };
  await c.source('kill');
  const destinations = Array.from({ length: 100 }, (_, n) => ({ namespace: c.target, name: `kill-${n}` }));
  await c.sync('kill', { destinations });
  await c.untilReady('kill');
  await c.idle();
  deletionsLeft = 40;
  await c.admin.delete(ConfigMapSync, c.from('kill'));
  await expect.poll(() => isKilled).toBe(true);
  await c.stop();
  expect((await c.admin.list(ConfigMap, selection)).items).toHaveLength(60);
  deletionsLeft = Number.POSITIVE_INFINITY;
  isKilled = false;
  await c.restart();
  await c.untilGone(ConfigMapSync, c.from('kill'));
  expect((await c.admin.list(ConfigMap, selection)).items).toEqual([]);
});

it('scenario 07 keeps the copies of a deleted source with Retain', async () => {
  await c.source('retain');
  await c.sync('retain');
  await c.untilReady('retain');
  const copy = await c.admin.get(ConfigMap, c.to('retain'));
  await c.admin.delete(ConfigMap, c.from('retain'));
  const sync = await c.untilReady('retain', 'SourceNotFound');
  expect(findCondition(sync, 'SourceAvailable')).toMatchObject({ status: 'False', reason: 'SourceNotFound' });
  expect(sync.status).toMatchObject({ sourceExists: false, destinationExists: true });
  await c.untilEvent('retain', 'SourceMissing');
  expect(await c.admin.get(ConfigMap, c.to('retain'))).toEqual(copy);

  await c.source('retain', { data: { color: 'new' } });
  const again = await c.until(ConfigMap, c.to('retain'), ({ data }) => data?.color === 'new');
  expect(again.metadata?.uid).toBe(copy.metadata?.uid);
});

it('scenario 07 deletes the copies of a deleted source with Delete, except for adopted ones', async () => {
  await c.source('follow');
  await c.admin.create(ConfigMap, { metadata: c.to('follow-adopted'), data: { color: 'old' } });
  const destinations = ['follow', 'follow-adopted'].map((name) => ({ namespace: c.target, name }));
  await c.sync('follow', { destinations, sourceDeletionPolicy: 'Delete' });
  await c.untilReady('follow');
  await c.admin.delete(ConfigMap, c.from('follow'));
  await c.untilGone(ConfigMap, c.to('follow'));
  await c.untilReady('follow', 'SourceNotFound');
  expect((await c.untilEvent('follow', 'DestinationDeleted')).note).toBe(`deleted ${c.target}/follow`);
  const adopted = await c.admin.get(ConfigMap, c.to('follow-adopted'));
  expect(adopted.data).toEqual({ color: 'red' });
  expect(adopted.metadata?.annotations).toBeUndefined();
  await c.admin.get(ConfigMapSync, c.from('follow'));

  await c.source('follow', { data: { color: 'new' } });
  await c.until(ConfigMap, c.to('follow'), ({ data }) => data?.color === 'new');
});

it.each(['Delete', 'Orphan'] as const)('copies of a changed target follow the deletion policy: %s', async (policy) => {
  const name = `changed-${policy.toLowerCase()}`;
  await c.source(name);
  await c.sync(name, { deletionPolicy: policy });
  await c.untilReady(name);
  await c.change(name, { targetName: `${name}-2` });
  await c.untilReady(name);
  expect((await c.admin.get(ConfigMap, c.to(`${name}-2`))).data).toEqual({ color: 'red' });
  const left = await c.admin.find(ConfigMap, c.to(name));
  if (policy === 'Delete') return expect(left).toBeUndefined();
  expect(left?.data).toEqual({ color: 'red' });
  expect(left?.metadata?.labels).toBeUndefined();
});
