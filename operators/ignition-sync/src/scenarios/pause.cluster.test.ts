import { ConfigMap } from '@bowline/kubernetes';
import { findCondition } from '@bowline/runtime';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { GLOBAL_PAUSE } from '../api/names.ts';
import { type ControllerScenario, startControllerScenario } from './controller.test-support.ts';

let c: ControllerScenario;
beforeAll(async () => {
  c = await startControllerScenario();
});
afterAll(() => c[Symbol.asyncDispose]());

it('scenario 07 does nothing with git while spec.paused is set, and tells the agents', async () => {
  await c.sync('paused', { paused: true, git: { repo: `${c.git.url}/paused.git` } });
  await c.untilCondition('paused', 'Ready', { status: 'False', reason: 'Paused', message: 'spec.paused is true' });
  await c.advanceTime(300_000);
  expect(c.git.requests.filter(({ url }) => url.includes('paused.git'))).toEqual([]);
  expect(await c.metadata('paused')).toMatchObject({ paused: true, commit: '' });
  await c.untilEvent('paused', 'Paused');
});

it('scenario 07 keeps the commit of an IgnitionSync that is paused later, and continues with a new one', async () => {
  const first = await c.repository.commit({ a: '1' }, { branch: 'later' });
  await c.sync('later', { git: { ref: 'later' } });
  await c.untilCondition('later', 'RepoCloned', { status: 'True' });
  await c.change('later', { paused: true });
  await c.untilCondition('later', 'Ready', { reason: 'Paused' });
  expect(await c.metadata('later')).toMatchObject({ paused: true, commit: first });
  const second = await c.repository.commit({ a: '2' }, { branch: 'later' });
  await c.change('later', { paused: false });
  await c.until(IgnitionSync, c.key('later'), ({ status }) => status?.lastSyncCommit === second);
  expect(await c.metadata('later')).toMatchObject({ paused: false, commit: second });
});

it('scenario 07 pauses every IgnitionSync by the ConfigMap in the namespace of the manager', async () => {
  await c.sync('global');
  await c.untilCondition('global', 'RepoCloned', { status: 'True' });
  const key = { namespace: c.managerNamespace, name: GLOBAL_PAUSE.name };
  await c.admin.create(ConfigMap, { metadata: key, data: { [GLOBAL_PAUSE.key]: 'true' } });
  await c.untilCondition('global', 'Ready', { reason: 'Paused', message: 'ConfigMap ignition-sync-global-pause' });
  const requests = c.git.requests.length;
  await c.restart();
  await c.advanceTime(120_000);
  expect(c.git.requests.length).toBe(requests);
  await c.admin.delete(ConfigMap, key);
  await c.untilCondition('global', 'Ready', { reason: 'Reconciling' });
  await expect.poll(() => c.git.requests.length).toBeGreaterThan(requests);
});

it('scenario 07 ignores an IgnitionSync with the annotation bowline.dev/paused', async () => {
  await c.sync('ignored');
  await c.untilCondition('ignored', 'RepoCloned', { status: 'True' });
  await c.annotate('ignored', { 'bowline.dev/paused': 'true' });
  const { status } = await c.change('ignored', { git: { ref: 'nowhere' } });
  await c.advanceTime(120_000);
  await c.idle();
  expect((await c.admin.get(IgnitionSync, c.key('ignored'))).status).toEqual(status);
  await c.annotate('ignored', { 'bowline.dev/paused': null });
  await c.untilCondition('ignored', 'RepoCloned', { status: 'False' });
});

it('scenario 07 resolves no ref again when polling is off', async () => {
  const first = await c.repository.commit({ b: '1' }, { branch: 'still' });
  await c.sync('still', { git: { ref: 'still' }, polling: { enabled: false } });
  const sync = await c.untilCondition('still', 'RepoCloned', { status: 'True' });
  expect(findCondition(sync, 'RepoCloned')?.message).toBe(`still is at ${first.slice(0, 12)}`);
  await c.repository.commit({ b: '2' }, { branch: 'still' });
  await c.advanceTime(600_000);
  await c.idle();
  expect((await c.metadata('still')).commit).toBe(first);
});
