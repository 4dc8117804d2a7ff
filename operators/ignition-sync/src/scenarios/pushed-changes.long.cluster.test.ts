import { ConfigMap } from '@bowline/kubernetes';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { objectNames } from '../api/names.ts';
import { encodeChanges } from '../bidirectional/changes/change-set.ts';
import { type ControllerScenario, startControllerScenario } from './controller.test-support.ts';

const TOKEN = 'token';

let c: ControllerScenario;
beforeAll(async () => {
  c = await startControllerScenario({ gitServer: { auth: { username: 'x-access-token', password: TOKEN } } });
  await c.secret('token', { value: TOKEN });
});
afterAll(() => c[Symbol.asyncDispose]());

/** send writes changes as an agent does. */
async function send(cr: string, key: string, commit: string, files: Readonly<Record<string, string>>): Promise<void> {
  const changes = Object.entries(files).map(([path, content]) => ({
    path,
    action: 'modified' as const,
    isExecutable: false,
    content: Buffer.from(content),
  }));
  const [part = ''] = encodeChanges({ gateway: key, timestamp: '2026-01-01T00:00:00Z', commit, changes });
  const body = { data: { [key]: part } };
  await c.admin.patch(ConfigMap, c.key(objectNames(cr).changes), { type: 'merge', body });
}

it('scenario 19 pushes the changes of a gateway to its branch, and removes what was pushed', async () => {
  await c.gateway('site-0', 'plant');
  const auth = { token: { secretRef: { name: 'token', key: 'value' } } };
  const bidirectional = { enabled: true, watchPaths: ['projects'], conflictStrategy: 'manual' as const };
  await c.sync('plant', { git: { auth }, bidirectional });
  const { status } = await c.until(
    IgnitionSync,
    c.key('plant'),
    ({ status: now }) => now?.lastSyncCommit !== undefined,
  );
  const commit = status?.lastSyncCommit ?? '';
  const path = 'services/site/projects/overview/project.json';
  await send('plant', 'site-0', commit, { [path]: '{"title":"changed"}' });
  const branch = `refs/heads/gateway-changes/${c.namespace}/site-0`;
  const content = () => c.repository.git('show', `${branch}:${path}`).catch(() => undefined);
  await expect.poll(content).toBe('{"title":"changed"}');
  expect(await c.repository.git('rev-parse', `${branch}^`)).toBe(commit);
  const isEmpty = ({ data }: ConfigMap): boolean => Object.keys(data ?? {}).length === 0;
  await c.until(ConfigMap, c.key(objectNames('plant').changes), isEmpty);

  // The same file changes in Git: the gateway keeps its own until somebody decides.
  const next = await c.repository.commit({ [path]: '{"title":"in git"}' });
  await c.advanceTime(66_000);
  await c.untilCondition('plant', 'ConflictDetected', { status: 'True', message: path });
  await c.until(IgnitionSync, c.key('plant'), ({ status: now }) => now?.lastSyncCommit === next);
  expect((await c.metadata('plant')).plan['site-0']?.held).toEqual([path]);
}, 60_000);
