import { forEachConcurrently } from '@bowline/machinery';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { POD_ANNOTATIONS } from '../api/names.ts';
import { SyncProfile } from '../api/sync-profile.ts';
import { type ControllerScenario, startControllerScenario } from './controller.test-support.ts';

let c: ControllerScenario;
beforeAll(async () => {
  c = await startControllerScenario();
});
afterAll(() => c[Symbol.asyncDispose]());

const statusWrites = async (since: number, name: string): Promise<number> =>
  (await c.writes(since)).filter((write) => write.includes('ignitionsyncs') && write.endsWith(`/${name}`)).length;

it('writes details at most once a second, and the last state always', async () => {
  const pods = Array.from({ length: 20 }, (_, index) => `many-${String(index).padStart(2, '0')}`);
  expect(await forEachConcurrently(pods, 8, (pod) => c.gateway(pod, 'many'))).toEqual([]);
  await c.sync('many');
  await c.until(IgnitionSync, c.key('many'), ({ status }) => status?.lastSyncCommit !== undefined);
  await c.advanceTime(1_000);
  await c.until(IgnitionSync, c.key('many'), ({ status }) => status?.discoveredGateways?.length === pods.length);
  await c.advanceTime(1_000);
  await c.idle();
  const since = Date.now();
  // The clock stands still: all of this happens within a second.
  for (const pod of pods.slice(0, -1)) await c.report('many', pod);
  await c.idle();
  expect(await statusWrites(since, 'many')).toBeLessThanOrEqual(1);
  await c.advanceTime(1_000);
  const counts = ({ status }: IgnitionSync): number =>
    status?.discoveredGateways?.filter(({ syncStatus }) => syncStatus === 'Synced').length ?? 0;
  await c.until(IgnitionSync, c.key('many'), (sync) => counts(sync) === pods.length - 1);
  expect(await statusWrites(since, 'many')).toBeLessThanOrEqual(2);
  // The last one makes the IgnitionSync ready, which is written at once.
  await c.report('many', pods.at(-1) ?? '');
  await c.untilCondition('many', 'Ready', { status: 'True', reason: 'SyncSucceeded' });
}, 60_000);

it('reports metadata that is too large for agents, and keeps what they have', async () => {
  await c.sync('large');
  await c.untilCondition('large', 'RepoCloned', { status: 'True' });
  const before = await c.metadata('large');
  const vars = Object.fromEntries(Array.from({ length: 64 }, (_, index) => [`v${index}`, 'x'.repeat(1_024)]));
  for (let index = 0; index < 9; index++) {
    const spec = { mappings: [{ source: 'a', destination: 'projects' }], vars };
    const metadata = { namespace: c.namespace, name: `large-${index}` };
    await c.admin.create(SyncProfile, SyncProfile.withDefaults({ metadata, spec }));
    await c.gateway(`large-${index}`, 'large', { [POD_ANNOTATIONS.syncProfile]: `large-${index}` });
  }
  await expect
    .poll(
      async () => {
        await c.advanceTime(1_000);
        const { status } = await c.admin.get(IgnitionSync, c.key('large'));
        return status?.conditions?.find(({ type }) => type === 'TooLarge')?.status;
      },
      { timeout: 20_000, interval: 100 },
    )
    .toBe('True');
  const sync = await c.untilCondition('large', 'Ready', {
    status: 'False',
    reason: 'TooLarge',
    message: 'SyncProfiles',
  });
  expect(sync.status?.lastSyncCommit).toBe(before.commit);
  expect(Object.keys((await c.metadata('large')).profiles).length).toBeLessThan(9);
  await c.admin.delete(SyncProfile, c.key('large-0'));
  await c.admin.delete(SyncProfile, c.key('large-1'));
  await c.until(
    IgnitionSync,
    c.key('large'),
    ({ status }) => !status?.conditions?.some(({ type }) => type === 'TooLarge'),
  );
}, 60_000);
