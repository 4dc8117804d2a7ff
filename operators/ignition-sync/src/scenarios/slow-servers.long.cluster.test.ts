import { mkdtemp, readdir, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findCondition } from '@bowline/runtime';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type GitServer, startGitServer } from '../../../../test/support/git/git-server.ts';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { type ControllerScenario, startControllerScenario } from './controller.test-support.ts';

let c: ControllerScenario;
let slow: GitServer;
let workFolder: string;

beforeAll(async () => {
  workFolder = await mkdtemp(join(tmpdir(), 'bowline-ignition-slow-'));
  slow = await startGitServer({ plain: true });
  const repository = await slow.repositories.create('slow.git');
  await repository.commit({ a: '1' });
  c = await startControllerScenario({
    config: { 'ignition-sync': { workFolder, maxRepositoryMiB: 1 } },
    isGitSlow: true,
  });
  c.onDispose(async () => await slow[Symbol.asyncDispose]());
  c.onDispose(() => rm(workFolder, { recursive: true, force: true }));
});
afterAll(() => c[Symbol.asyncDispose]());

/** gitProcesses returns the running processes that work in the folder of the operator. */
async function gitProcesses(): Promise<readonly string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const folders = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => '')));
  return pids.filter((_, index) => folders[index]?.startsWith(workFolder));
}

const untilProcesses = (isExpected: (count: number) => boolean) =>
  expect.poll(async () => isExpected((await gitProcesses()).length)).toBe(true);

it('scenario 06 ends the git process of an IgnitionSync that is deleted, and delays no other', async () => {
  slow.fault = { kind: 'hang' };
  const git = { repo: `${slow.url}/slow.git` };
  await c.sync('slow', { git });
  await c.untilCondition('slow', 'RepoCloned', { status: 'False', reason: 'Reconciling', message: 'resolving main' });
  await untilProcesses((count) => count > 0);
  await c.sync('quick');
  await c.untilCondition('quick', 'RepoCloned', { status: 'True' });
  expect((await gitProcesses()).length).toBeGreaterThan(0);
  await c.admin.delete(IgnitionSync, c.key('slow'));
  await c.untilGone(IgnitionSync, c.key('slow'));
  await untilProcesses((count) => count === 0);
});

it('scenario 06 ends the git process of an IgnitionSync that is paused or changed', async () => {
  slow.fault = { kind: 'hang' };
  await c.sync('paused', { git: { repo: `${slow.url}/slow.git` } });
  await untilProcesses((count) => count > 0);
  await c.change('paused', { paused: true });
  await untilProcesses((count) => count === 0);
  await c.change('paused', { paused: false });
  await untilProcesses((count) => count > 0);
  await c.change('paused', { git: { repo: c.repo } });
  await c.untilCondition('paused', 'RepoCloned', { status: 'True' });
  await untilProcesses((count) => count === 0);
});

it('scenario 06 ends an operation after gitTimeout, and retries it later', async () => {
  slow.fault = { kind: 'hang' };
  await c.sync('timeout', { git: { repo: `${slow.url}/slow.git` } });
  await untilProcesses((count) => count > 0);
  await c.advanceTime(121_000);
  await c.untilCondition('timeout', 'RepoCloned', { status: 'False', reason: 'CloneFailed', message: 'Timeout: ' });
  slow.fault = undefined;
  await c.advanceTime(30_000);
  await c.untilCondition('timeout', 'RepoCloned', { status: 'True' });
});

it('scenario 06 ends a transfer that is too large', async () => {
  const repository = await slow.repositories.create('large.git');
  await repository.commit({ a: '1' });
  slow.fault = { kind: 'endless-pack' };
  const commit = await repository.git('rev-parse', 'refs/heads/main');
  await c.sync('large', { git: { repo: `${slow.url}/large.git`, ref: commit } });
  await c.untilCondition('large', 'RepoCloned', { status: 'False', message: 'TooLarge: .* increase maxRepositoryMiB' });
  await untilProcesses((count) => count === 0);
});

it('scenario 06 keeps the commit of gateways while Git is down, is not ready, and writes nothing when it retries', async () => {
  const server = await startGitServer({ plain: true });
  c.onDispose(async () => await server[Symbol.asyncDispose]());
  const repository = await server.repositories.create('down.git');
  const commit = await repository.commit({ a: '1' });
  await c.gateway('down-0', 'down');
  await c.sync('down', { git: { repo: `${server.url}/down.git` } });
  await c.until(IgnitionSync, c.key('down'), ({ status }) => status?.lastSyncCommit === commit);
  await c.advanceTime(1_000);
  await c.until(IgnitionSync, c.key('down'), ({ status }) => status?.discoveredGateways?.length === 1);
  await c.report('down', 'down-0');
  await c.untilCondition('down', 'Ready', { status: 'True' });
  server.fault = { kind: 'status', status: 503 };
  await c.advanceTime(66_000);
  const message = 'Repository not cloned: HostUnreachable';
  const failed = await c.untilCondition('down', 'Ready', { status: 'False', reason: 'Reconciling', message });
  expect(failed.status?.discoveredGateways).toMatchObject([{ syncStatus: 'Synced', syncedCommit: commit }]);
  expect(await c.metadata('down')).toMatchObject({ commit });
  // The retry does not end: its start must not make the IgnitionSync ready.
  server.fault = { kind: 'hang' };
  await c.idle();
  const requests = server.requests.length;
  for (let seconds = 0; seconds < 60 && server.requests.length === requests; seconds++) await c.advanceTime(1_000);
  expect(server.requests.length).toBeGreaterThan(requests);
  await c.idle();
  const { metadata, status } = await c.admin.get(IgnitionSync, c.key('down'));
  expect(metadata?.resourceVersion).toBe(failed.metadata?.resourceVersion);
  expect(findCondition({ status }, 'Ready')).toMatchObject({ status: 'False' });
}, 60_000);
