import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { SyncStep } from '../engine/sync/sync-request.ts';
import type { AgentHooks } from './agent-channel.test-support.ts';
import type { AgentProcess } from './agent-process.test-support.ts';
import { type AgentRig, agentRig, FIRST, POD } from './agent-rig.test-support.ts';

const VIEW = 'projects/overview/view/view.json';
const OLD = 'projects/overview/old.txt';
const NEW = 'projects/overview/new/new.txt';
const COMMIT_1 = { ...FIRST, [`services/site/${OLD}`]: 'old' };
const COMMIT_2 = {
  [`services/site/${VIEW}`]: '{"version": 2}',
  [`services/site/${OLD}`]: null,
  [`services/site/${NEW}`]: 'new',
};
const REVERTED = {
  [`services/site/${VIEW}`]: '{"version": 1}',
  [`services/site/${OLD}`]: 'old',
  [`services/site/${NEW}`]: null,
};
type State = Readonly<Record<string, string | undefined>>;
const STATE_1: State = { [VIEW]: '{"version": 1}', [OLD]: 'old', [NEW]: undefined };
const STATE_2: State = { [VIEW]: '{"version": 2}', [OLD]: undefined, [NEW]: 'new' };

async function stateOf(rig: AgentRig): Promise<State> {
  const files = await rig.files();
  return { [VIEW]: files[VIEW], [OLD]: files[OLD], [NEW]: files[NEW] };
}

/** A gateway at the first commit, and its agent. */
async function atFirstCommit(hooks?: AgentHooks): Promise<{ readonly rig: AgentRig; readonly agent: AgentProcess }> {
  const rig = await agentRig();
  const first = await rig.commit(COMMIT_1);
  await rig.gateway.start();
  await rig.publish(first);
  const agent = await rig.start(hooks);
  await rig.untilReport(({ syncStatus }) => syncStatus === 'Synced');
  return { rig, agent };
}

async function publishSecond(rig: AgentRig): Promise<string> {
  const second = await rig.commit(COMMIT_2);
  await rig.publish(second);
  return second;
}

/** Steps before the journal is complete leave everything old. */
const STEPS: readonly (readonly [SyncStep, 'old' | 'new' | 'either'])[] = [
  ['compare', 'old'],
  ['before-stage', 'old'],
  ['stage', 'old'],
  ['journal', 'old'],
  ['before-apply', 'old'],
  ['place', 'either'],
  ['delete', 'either'],
  ['manifest', 'new'],
  ['finish', 'new'],
  ['loaded', 'new'],
];

it('scenario 18 is killed at each step of a sync, and the next agent finishes it', async () => {
  const { rig, agent: first } = await atFirstCommit();
  let agent = first;
  let [from, to] = [STATE_1, STATE_2];
  for (const [step, expected] of STEPS) {
    await agent.change({ stopsAt: { step, signal: 'SIGKILL' } });
    const commit = await rig.commit(to === STATE_1 ? REVERTED : COMMIT_2);
    await rig.publish(commit);
    expect(await agent.ended, `${step}: ${agent.output()}`).toEqual({ code: null, signal: 'SIGKILL' });
    const state = await stateOf(rig);
    if (expected === 'old') expect(state, step).toEqual(from);
    if (expected === 'new') expect(state, step).toEqual(to);
    for (const [path, content] of Object.entries(state))
      expect([from[path], to[path]], `${step} ${path}`).toContain(content);
    agent = await rig.start();
    const report = await rig.untilReport((each) => each.syncStatus === 'Synced' && each.syncedCommit === commit);
    expect(await stateOf(rig), step).toEqual(to);
    expect(report.lastScanResult).toContain('projects=200');
    [from, to] = [to, from];
  }
});

it.each([
  ['before the journal', 'stage', STATE_1],
  ['after the journal', 'place', STATE_2],
] as const)('scenario 18 ends within its grace period on SIGTERM %s', async (_, step, expected) => {
  const { rig, agent } = await atFirstCommit();
  await agent.change({ stopsAt: { step, signal: 'SIGTERM' } });
  const second = await publishSecond(rig);
  expect(await agent.ended, agent.output()).toEqual({ code: 0, signal: null });
  expect(await stateOf(rig)).toEqual(expected);
  const report = await rig.report();
  // What has a journal is finished, with the scan and the report.
  expect(report?.syncedCommit === second).toBe(expected === STATE_2);
});

it('scenario 18 leaves the folder to the agent that uses it, and takes over when that has ended', async () => {
  const { rig, agent: first } = await atFirstCommit();
  const second = await rig.commit(COMMIT_2);
  await rig.gateway.change({ designers: [{ id: 'd1', user: 'ann', project: 'overview' }] });
  const plan = { name: 'site', commit: second, ref: 'main' };
  await rig.publish(second, {
    metadata: { plan: { [POD]: { ...plan, key: 'site' }, 'site-1': { ...plan, key: 'site-1' } } },
  });
  await rig.untilReport(({ sessionsBlocking }) => sessionsBlocking === 1);
  await using _other = await rig.start({ pod: 'site-1' });
  const busy = await rig.untilReport(({ errorReason }) => errorReason === 'DataFolderBusy', 'site-1');
  expect(busy.errorMessage).toContain(`the data folder is used by ${POD}`);
  expect(await stateOf(rig)).toEqual(STATE_1);
  await first.stop();
  await rig.gateway.change({ designers: [] });
  await rig.untilReport(({ syncStatus, syncedCommit }) => syncStatus === 'Synced' && syncedCommit === second, 'site-1');
  expect(await stateOf(rig)).toEqual(STATE_2);
});

it('scenario 18 reports a full volume and changes nothing, and syncs when there is space', async () => {
  const { rig, agent: full } = await atFirstCommit({ freeBytes: Number.MAX_SAFE_INTEGER });
  await full.change({ freeBytes: 1_000 });
  const second = await publishSecond(rig);
  const report = await rig.untilReport(({ errorReason }) => errorReason === 'DiskFull');
  expect(report.errorMessage).toContain('free space on the volume of the gateway');
  expect(await stateOf(rig)).toEqual(STATE_1);
  await full.stop();
  await using _again = await rig.start();
  await rig.untilReport(({ syncStatus, syncedCommit }) => syncStatus === 'Synced' && syncedCommit === second);
});

it('scenario 18 syncs although the gateway refuses the scan lock', async () => {
  const { rig } = await atFirstCommit();
  await rig.gateway.change({ responses: [{ path: '/data/api/v1/scan-lock/**', status: 409 }] });
  const second = await publishSecond(rig);
  await rig.untilReport(({ syncStatus, syncedCommit }) => syncStatus === 'Synced' && syncedCommit === second);
  await rig.untilLine(({ msg }) => msg === 'the gateway did not grant a scan lock');
});

it('keeps tokens and keys out of its command line, its log and its files', async () => {
  const rig = await agentRig({ gitServer: { auth: { username: 'x-access-token', password: 'canary-token' } } });
  const commit = await rig.commit(COMMIT_1);
  await rig.gateway.start();
  await rig.publish(commit, { metadata: { authType: 'token' } });
  const agent = await rig.start();
  await rig.untilReport(({ syncStatus }) => syncStatus === 'Synced');
  const commandLine = await readFile(`/proc/${agent.pid}/cmdline`, 'utf8');
  const gitConfig = await readFile(join(rig.repoFolder, 'repo.git', 'config'), 'utf8');
  await agent.stop();
  const seen = [commandLine, gitConfig, agent.output(), JSON.stringify(await rig.report())].join('\n');
  expect(seen).not.toContain('canary');
});
