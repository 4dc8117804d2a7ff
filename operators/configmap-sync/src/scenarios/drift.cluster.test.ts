import { ConfigMap, ResourceQuota } from '@bowline/kubernetes';
import { findCondition } from '@bowline/runtime';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ConfigMapSync } from '../api/config-map-sync.ts';
import { ANNOTATIONS, REQUESTS } from '../api/names.ts';
import { type Scenario, startScenario } from './scenario.test-support.ts';

let c: Scenario;
beforeAll(async () => {
  c = await startScenario();
});
afterAll(() => c[Symbol.asyncDispose]());

const untilConflict = (name: string, status: 'True' | 'False') =>
  c.until(ConfigMapSync, c.from(name), (sync) => findCondition(sync, 'Conflict')?.status === status);

it.each([
  ['changed', { data: { color: 'blue', size: null, extra: '1' } }],
  ['emptied', { data: null }],
  ['changed to binary data', { data: { color: null }, binaryData: { color: 'AAEC' } }],
])('scenario 03 repairs a copy that was %s', async (how, body) => {
  const name = how.replaceAll(' ', '-');
  await c.source(name, { data: { color: 'red', size: 'l' } });
  await c.sync(name);
  await c.untilReady(name);
  const drifted = await c.admin.patch(ConfigMap, c.to(name), { type: 'merge', body });
  const repaired = await c.until(
    ConfigMap,
    c.to(name),
    ({ metadata }) => metadata?.resourceVersion !== drifted.metadata?.resourceVersion,
  );
  expect(repaired.data).toEqual({ color: 'red', size: 'l' });
  expect(repaired.binaryData).toBeUndefined();
  expect(repaired.metadata?.uid).toBe(drifted.metadata?.uid);
  expect((await c.untilEvent(name, 'DriftCorrected')).note).toContain(`${c.target}/${name}`);
});

it('scenario 03 keeps a modified copy with SkipIfModified until the modification is reverted', async () => {
  await c.source('skip');
  await c.sync('skip', { conflictPolicy: 'SkipIfModified' });
  await c.untilReady('skip');
  const edited = await c.edit(c.to('skip'), { color: 'mine' });
  const sync = await c.untilReady('skip', 'DestinationModified');
  const { message } = findCondition(sync, 'Conflict') ?? {};
  expect(findCondition(sync, 'Conflict')).toMatchObject({ status: 'True', reason: 'DestinationModified' });
  expect(message).toContain(`${c.target}/skip: another client changed the copy; revert the change, or overwrite it`);
  expect(findCondition(sync, 'Synced')).toMatchObject({ status: 'False' });
  expect(sync.status?.destinations).toMatchObject([{ status: 'Conflict', reason: 'DestinationModified' }]);
  await c.untilEvent('skip', 'ConflictDetected');

  const before = c.requests.length;
  await c.edit(c.from('skip'), { color: 'blue' });
  await c.untilRequested(`get configmaps ${c.namespace}/skip`, before);
  await c.idle();
  expect(await c.admin.get(ConfigMap, c.to('skip'))).toEqual(edited);

  await c.edit(c.to('skip'), { color: 'red' });
  await c.until(ConfigMap, c.to('skip'), ({ data }) => data?.color === 'blue');
  const healed = await untilConflict('skip', 'False');
  expect(findCondition(healed, 'Conflict')?.reason).toBe('None');
  await c.untilReady('skip');
});

const force = (name: string, value: string) =>
  c.admin.patch(ConfigMapSync, c.from(name), {
    type: 'merge',
    body: { metadata: { annotations: { [REQUESTS.forceSync]: value } } },
  });

it('scenario 03 overwrites a modified copy with SkipIfModified when forced, once for each new value', async () => {
  await c.source('force');
  await c.sync('force', { conflictPolicy: 'SkipIfModified' });
  await c.untilReady('force');
  await c.edit(c.to('force'), { color: 'mine' });
  await untilConflict('force', 'True');
  await force('force', '1');
  await c.until(ConfigMap, c.to('force'), ({ data }) => data?.color === 'red');
  const forced = await untilConflict('force', 'False');
  expect(forced.status?.lastHandledForceSync).toBe('1');
  await c.untilReady('force');

  await c.edit(c.to('force'), { color: 'again' });
  await untilConflict('force', 'True');
  expect((await c.admin.get(ConfigMap, c.to('force'))).data).toEqual({ color: 'again' });
  await force('force', '2');
  await c.until(ConfigMap, c.to('force'), ({ data }) => data?.color === 'red');
});

it('scenario 03 forces a sync once, even if another copy cannot be written', async () => {
  const full = { namespace: await c.createNamespace(), name: 'full' };
  await c.admin.create(ResourceQuota, { metadata: full, spec: { hard: { 'count/configmaps': '0' } } });
  await c.until(ResourceQuota, full, ({ status }) => status?.hard?.['count/configmaps'] === '0');
  await c.source('half');
  const destinations = [{ namespace: full.namespace }, { namespace: c.target }];
  await c.sync('half', { conflictPolicy: 'SkipIfModified', destinations });
  await c.untilReady('half', 'SyncFailed');
  await c.edit(c.to('half'), { color: 'mine' });
  await untilConflict('half', 'True');
  await force('half', '1');
  await c.until(ConfigMap, c.to('half'), ({ data }) => data?.color === 'red');
  const forced = await untilConflict('half', 'False');
  expect(forced.status?.lastHandledForceSync).toBe('1');
  expect(findCondition(forced, 'Ready')?.reason).toBe('SyncFailed');
  await c.edit(c.to('half'), { color: 'again' });
  await untilConflict('half', 'True');
  expect((await c.admin.get(ConfigMap, c.to('half'))).data).toEqual({ color: 'again' });
});

it.each([
  {
    what: 'a source',
    name: 'no-source',
    reason: 'SourceNotFound',
    spoil: () => c.admin.delete(ConfigMap, c.from('no-source')),
    repair: () => c.source('no-source', { data: { color: 'blue' } }),
  },
  {
    what: 'content',
    name: 'no-content',
    reason: 'InvalidSpec',
    spoil: () => c.edit(c.from('no-content'), { other: 'collides' }),
    repair: () => c.edit(c.from('no-content'), { color: 'blue', other: null }),
  },
])('scenario 03 forces a sync as soon as there is $what to copy', async ({ name, reason, spoil, repair }) => {
  await c.source(name);
  const transforms = [{ rename: { from: 'other', to: 'color' } }];
  await c.sync(name, { conflictPolicy: 'SkipIfModified', transforms });
  await c.untilReady(name);
  await c.edit(c.to(name), { color: 'mine' });
  await untilConflict(name, 'True');
  await spoil();
  await c.untilReady(name, reason);
  const before = c.requests.length;
  await force(name, 'now');
  await c.untilRequested(`get configmaps ${c.namespace}/${name}`, before);
  await c.idle();
  const { status } = await c.admin.get(ConfigMapSync, c.from(name));
  expect(status?.lastHandledForceSync).toBeUndefined();
  await repair();
  await c.until(ConfigMap, c.to(name), ({ data }) => data?.color === 'blue');
  expect((await c.untilReady(name)).status?.lastHandledForceSync).toBe('now');
});

it('scenario 03 keeps the keys of other clients with Merge, and repairs its own', async () => {
  await c.source('merge', { data: { color: 'red', size: 'l' } });
  await c.sync('merge', { conflictPolicy: 'Merge' });
  await c.untilReady('merge');
  await c.edit(c.to('merge'), { foreign: 'kept', color: 'changed' });
  const repaired = await c.until(ConfigMap, c.to('merge'), ({ data }) => data?.color === 'red');
  expect(repaired.data).toEqual({ color: 'red', size: 'l', foreign: 'kept' });
  await c.untilEvent('merge', 'DriftCorrected');

  await c.edit(c.from('merge'), { size: null, shape: 'round' });
  const followed = await c.until(ConfigMap, c.to('merge'), ({ data }) => data?.shape === 'round');
  expect(followed.data).toEqual({ color: 'red', shape: 'round', foreign: 'kept' });
  expect(followed.metadata?.annotations?.[ANNOTATIONS.managedKeys]).toBe('color,shape');

  // Foreign keys are not its concern: their edits cause no write.
  await c.untilReady('merge');
  await c.idle();
  const before = c.requests.length;
  const edited = await c.edit(c.to('merge'), { foreign: 'other' });
  await c.untilRequested(`get configmaps ${c.namespace}/merge`, before);
  await c.idle();
  expect(await c.admin.get(ConfigMap, c.to('merge'))).toEqual(edited);
});
