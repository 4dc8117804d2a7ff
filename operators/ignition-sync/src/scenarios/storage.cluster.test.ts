import { PersistentVolume, PersistentVolumeClaim, Pod } from '@bowline/kubernetes';
import { findCondition } from '@bowline/runtime';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { LABELS, MANAGER, objectNames } from '../api/names.ts';
import { type ControllerScenario, startControllerScenario } from './controller.test-support.ts';

let c: ControllerScenario;
beforeAll(async () => {
  c = await startControllerScenario();
});
afterAll(() => c[Symbol.asyncDispose]());

const claimOf = (name: string) => c.admin.get(PersistentVolumeClaim, c.key(objectNames(name).claim));
const untilBound = (name: string) =>
  c.until(PersistentVolumeClaim, c.key(objectNames(name).claim), ({ status }) => status?.phase === 'Bound');
const untilNotPending = (name: string) =>
  c.until(IgnitionSync, c.key(name), (sync) => sync.status !== undefined && !findCondition(sync, 'StoragePending'));

it('scenario 11 creates a claim of the default class, and reports nothing once it is bound', async () => {
  await c.sync('bound', { storage: { size: '2Gi' } });
  await untilBound('bound');
  await untilNotPending('bound');
  const { metadata, spec } = await claimOf('bound');
  expect(metadata?.labels).toMatchObject({ 'app.kubernetes.io/managed-by': MANAGER, [LABELS.crName]: 'bound' });
  expect(spec).toMatchObject({ accessModes: ['ReadWriteMany'], resources: { requests: { storage: '2Gi' } } });
});

it('scenario 11 uses a volume that an administrator created for its class', async () => {
  const name = c.uniqueName('static');
  const spec = { storageClassName: name, accessModes: ['ReadWriteMany'], capacity: { storage: '2Gi' } } as const;
  await c.admin.create(PersistentVolume, { metadata: { name }, spec: { ...spec, hostPath: { path: '/mnt/plant' } } });
  c.onDispose(() => c.admin.delete(PersistentVolume, { name }));
  await c.sync('static', { storage: { size: '1Gi', storageClassName: name } });
  await untilBound('static');
  await untilNotPending('static');
  expect((await claimOf('static')).spec).toMatchObject({ volumeName: name, storageClassName: name });
});

it('scenario 11 names a claim that stays unbound, and recovers when it is bound', async () => {
  const held = await c.nodeAgent.volumes.hold({ name: objectNames('unbound').claim });
  await c.sync('unbound', { storage: {} });
  const message = 'PersistentVolumeClaim ignition-sync-repo-unbound is not bound to a volume';
  await c.untilCondition('unbound', 'StoragePending', { status: 'True', reason: 'ClaimUnbound', message });
  await c.untilEvent('unbound', 'StoragePending');
  // Agents do not need the claim to know what to sync.
  await c.untilCondition('unbound', 'RepoCloned', { status: 'True' });
  await held.release();
  await untilNotPending('unbound');
});

it('scenario 11 never changes a claim, except that it may grow', async () => {
  await c.sync('fixed', { storage: { size: '2Gi' } });
  await untilBound('fixed');
  await c.change('fixed', { storage: { size: '1Gi' } });
  const reduced = 'has 2Gi and cannot be reduced to 1Gi; restore spec.storage.size';
  await c.untilCondition('fixed', 'StoragePending', { reason: 'ImmutableStorage', message: reduced });
  await c.change('fixed', { storage: { size: '2Gi', storageClassName: 'other' } });
  await c.untilCondition('fixed', 'StoragePending', {
    reason: 'ImmutableStorage',
    message: 'cannot be changed to other',
  });
  await c.change('fixed', { storage: { storageClassName: '', accessMode: 'ReadWriteOnce' } });
  const mode = 'has the access mode ReadWriteMany, which cannot be changed to ReadWriteOnce';
  await c.untilCondition('fixed', 'StoragePending', { reason: 'ImmutableStorage', message: mode });
  await c.change('fixed', { storage: { accessMode: 'ReadWriteMany' } });
  await untilNotPending('fixed');
  expect((await claimOf('fixed')).spec?.resources?.requests?.storage).toBe('2Gi');
});

it('scenario 11 names the pods of a ReadWriteOnce claim that are on two nodes', async () => {
  await c.sync('nodes', { storage: { accessMode: 'ReadWriteOnce' } });
  await untilBound('nodes');
  for (const [index, nodeName] of ['node-a', 'node-b'].entries()) {
    await c.gateway(`nodes-${index}`, 'nodes', {}, { nodeName: c.uniqueName(nodeName) });
  }
  const message = 'the pods nodes-0, nodes-1 are on 2 nodes, and a ReadWriteOnce volume can be mounted on one';
  await c.untilCondition('nodes', 'StoragePending', { status: 'True', reason: 'NodesDiffer', message });
  await c.admin.delete(Pod, c.key('nodes-1'));
  await untilNotPending('nodes');
});

it('scenario 11 keeps the claim when storage is no longer requested', async () => {
  await c.sync('removed', { storage: {} });
  await untilBound('removed');
  const { metadata } = await c.change('removed', { storage: null });
  await c.until(IgnitionSync, c.key('removed'), ({ status }) => status?.observedGeneration === metadata?.generation);
  expect((await claimOf('removed')).metadata?.deletionTimestamp).toBeUndefined();
});
