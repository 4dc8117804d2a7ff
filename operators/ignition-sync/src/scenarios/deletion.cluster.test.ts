import { ConfigMap, PersistentVolumeClaim, Role, RoleBinding } from '@bowline/kubernetes';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { FINALIZER, objectNames } from '../api/names.ts';
import { type ControllerScenario, startControllerScenario } from './controller.test-support.ts';

let c: ControllerScenario;
beforeAll(async () => {
  c = await startControllerScenario();
});
afterAll(() => c[Symbol.asyncDispose]());

const configMaps = (name: string): readonly string[] => {
  const { metadata, status, changes } = objectNames(name);
  return [metadata, status, changes];
};

it('scenario 02 creates the objects of an IgnitionSync, and removes its ConfigMaps with it', async () => {
  await c.sync('plant', { storage: {} });
  const { metadata } = await c.untilCondition('plant', 'RepoCloned', { status: 'True', reason: 'CloneSucceeded' });
  expect(metadata?.finalizers).toContain(FINALIZER);
  const { claim, agent } = objectNames('plant');
  const owner = { uid: metadata?.uid, controller: true };
  for (const [kind, name] of [
    [PersistentVolumeClaim, claim],
    [Role, agent],
    [RoleBinding, agent],
    [ConfigMap, objectNames('plant').metadata],
  ] as const) {
    const stored = await c.until(kind, c.key(name), () => true);
    expect(stored.metadata?.ownerReferences, name).toMatchObject([owner]);
  }
  for (const name of configMaps('plant').slice(1)) {
    const stored = await c.admin.get(ConfigMap, c.key(name));
    expect(stored.metadata?.ownerReferences, name).toBeUndefined();
    expect(stored.data).toBeUndefined();
  }
  await c.admin.delete(IgnitionSync, c.key('plant'));
  await c.untilGone(IgnitionSync, c.key('plant'));
  for (const name of configMaps('plant')) expect(await c.admin.find(ConfigMap, c.key(name))).toBeUndefined();
  await c.untilGone(Role, c.key(agent));
});

it('scenario 02 keeps the claim of an IgnitionSync that is deleted with its dependents orphaned', async () => {
  await c.sync('orphan', { storage: {} });
  await c.untilCondition('orphan', 'RepoCloned', { status: 'True' });
  const { claim } = objectNames('orphan');
  await c.until(PersistentVolumeClaim, c.key(claim), () => true);
  await c.admin.delete(IgnitionSync, c.key('orphan'), { propagationPolicy: 'Orphan' });
  await c.untilGone(IgnitionSync, c.key('orphan'));
  const kept = await c.admin.get(PersistentVolumeClaim, c.key(claim));
  expect(kept.metadata?.ownerReferences ?? []).toEqual([]);
  expect(kept.metadata?.deletionTimestamp).toBeUndefined();
  for (const name of configMaps('orphan')) expect(await c.admin.find(ConfigMap, c.key(name))).toBeUndefined();
});

it('scenario 02 can be deleted twice quickly, and recreated with the same name (NotFound after finalizer)', async () => {
  for (let round = 0; round < 2; round++) {
    await c.sync('again');
    const isAccepted = ({ metadata }: IgnitionSync): boolean => metadata?.finalizers?.includes(FINALIZER) ?? false;
    await c.until(IgnitionSync, c.key('again'), isAccepted);
    await Promise.allSettled([
      c.admin.delete(IgnitionSync, c.key('again')),
      c.admin.delete(IgnitionSync, c.key('again')),
    ]);
    await c.untilGone(IgnitionSync, c.key('again'));
  }
  await c.sync('again');
  await c.untilCondition('again', 'RepoCloned', { status: 'True' });
  await c.idle();
  // Nothing of the deleted ones is retried.
  const keys = c.manager.status().flatMap(({ controllers }) => controllers.flatMap((each) => each.keys));
  expect(keys.filter(({ failures }) => failures > 0)).toEqual([]);
});
