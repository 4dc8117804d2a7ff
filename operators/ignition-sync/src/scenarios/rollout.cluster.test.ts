import { ConfigMap, Pod } from '@bowline/kubernetes';
import { findCondition } from '@bowline/runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { CR_ANNOTATIONS, objectNames } from '../api/names.ts';
import { desiredHash } from '../protocol/desired-hash.ts';
import { type ControllerScenario, type SpecChanges, startControllerScenario } from './controller.test-support.ts';
import {
  type Agent,
  agentOf,
  type GatewayOptions,
  messageOf,
  runGateways,
  untilPlan,
  untilSync,
} from './gateways.test-support.ts';

let c: ControllerScenario;
let pushes = 0;
beforeAll(async () => {
  c = await startControllerScenario();
}, 60_000);
afterAll(() => c[Symbol.asyncDispose]());

/** Plant is an IgnitionSync whose gateways are synced at the first commit. */
interface Plant {
  readonly cr: string;
  readonly agents: Readonly<Record<string, Agent>>;
  /** push creates a commit and waits until agents know it. */
  push(): Promise<string>;
  /** untilReleased waits until exactly these gateways may sync the commit. */
  untilReleased(commit: string, ...names: string[]): Promise<void>;
  report(...names: string[]): Promise<void>;
}

/** startPlant creates gateways, whose names are `{cr}-{name}`, lets them start with the first commit, and then sets how they are deployed. */
async function startPlant(
  cr: string,
  names: readonly string[],
  spec: SpecChanges,
  options: (name: string) => GatewayOptions = () => ({}),
): Promise<Plant> {
  const podOf = (name: string): string => `${cr}-${name}`;
  await c.sync(cr);
  await c.untilCondition(cr, 'RepoCloned', { status: 'True' });
  await c.until(ConfigMap, c.key(objectNames(cr).metadata), () => true);
  await runGateways(c, names.map(podOf), cr, (pod) => options(pod.slice(cr.length + 1)));
  const agents = Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await agentOf(c, podOf(name), cr)] as const)),
  );
  for (const name of names) await agents[name]?.report();
  await c.untilCondition(cr, 'Ready', { status: 'True' });
  await c.change(cr, spec);
  await c.untilCondition(cr, 'Ready', {});
  const released = async (commit: string): Promise<readonly string[]> => {
    const metadata = await c.metadata(cr);
    return names.filter((name) => {
      const plan = metadata.plan[podOf(name)];
      return plan?.commit === commit && desiredHash(metadata, podOf(name)) !== undefined;
    });
  };
  return {
    cr,
    agents,
    async push() {
      const content = `{"title":"${++pushes}"}`;
      const commit = await c.repository.commit({ 'services/site/projects/overview/project.json': content });
      // The time of a request is part of the desired state, so that each has its own.
      const at = new Date(Date.UTC(2026, 0, 1) + pushes * 60_000).toISOString();
      await c.annotate(cr, { [CR_ANNOTATIONS.requestedAt]: at });
      const known = async (): Promise<string> => {
        await c.advanceTime(100);
        return (await c.metadata(cr)).commit;
      };
      await expect.poll(known).toBe(commit);
      return commit;
    },
    async untilReleased(commit, ...expected) {
      await expect
        .poll(
          async () => {
            await c.advanceTime(500);
            return await released(commit);
          },
          { timeout: 30_000, interval: 20 },
        )
        .toEqual(expected);
    },
    async report(...reporting) {
      for (const name of reporting) await agents[name]?.report();
    },
  };
}

describe('scenario 19', () => {
  it('syncs at most maxParallel gateways at a time', async () => {
    const plant = await startPlant('parallel', ['a', 'b', 'c'], { deployment: { maxParallel: 1 } });
    const commit = await plant.push();
    await plant.untilReleased(commit, 'a');
    const { plan } = await c.metadata('parallel');
    expect(plan['parallel-c']?.waitingFor).toBe('waiting until fewer than 1 gateways sync at the same time');
    await plant.report('a');
    await plant.untilReleased(commit, 'a', 'b');
    await plant.report('b');
    await plant.untilReleased(commit, 'a', 'b', 'c');
    await plant.report('c');
    await c.untilCondition('parallel', 'Ready', { status: 'True' });
  }, 60_000);

  it('syncs gateways in their order', async () => {
    const plant = await startPlant('ordered', ['a', 'b', 'c'], {
      deployment: { syncOrder: ['ordered-c', 'ordered-b', 'gone'] },
    });
    const commit = await plant.push();
    await plant.untilReleased(commit, 'c');
    const note = 'deployment.syncOrder: gateway gone is not running or does not exist';
    await untilSync(c, 'ordered', (sync) => messageOf(sync, 'AllGatewaysSynced').includes(note));
    await plant.report('c');
    await plant.untilReleased(commit, 'b', 'c');
    await plant.report('b');
    await plant.untilReleased(commit, 'a', 'b', 'c');
    await plant.report('a');
    await c.untilCondition('ordered', 'Ready', { status: 'True' });
  }, 60_000);

  it('syncs a backup after its peer, and without it after 2 minutes', async () => {
    const plant = await startPlant('redundant', ['primary', 'backup'], {}, (name) =>
      name === 'backup' ? { annotations: { redundancyRole: 'backup', peerGatewayName: 'redundant-primary' } } : {},
    );
    const commit = await plant.push();
    await plant.untilReleased(commit, 'primary');
    await plant.report('primary');
    await plant.untilReleased(commit, 'primary', 'backup');
    await plant.report('backup');
    await c.untilCondition('redundant', 'Ready', { status: 'True' });

    await c.admin.delete(Pod, c.key('redundant-primary'));
    const plan = await untilPlan(c, 'redundant', (each) => each['redundant-backup']?.peerMissingSince !== undefined);
    const since = Date.parse(plan['redundant-backup']?.peerMissingSince ?? '');
    const next = await plant.push();
    // In steps, so that git does not take longer than its timeout in this time.
    for (let step = 0; step < 11; step++) await c.advanceTime(10_000);
    await plant.untilReleased(next, 'backup');
    expect(c.clock.now() - since).toBeGreaterThanOrEqual(120_000);
    await c.untilEvent('redundant', 'PeerUnavailable');
  }, 60_000);

  it('rolls out in stages, with waits and an approval, also across a restart of the controller', async () => {
    const plant = await startPlant(
      'canary',
      ['a', 'b', 'c', 'd'],
      {
        deployment: {
          strategy: 'canary',
          stages: [
            {
              name: 'first',
              gateways: ['canary-a'],
              postSyncWait: '20s',
              healthCheckUrl: 'https://plant.example.com/',
            },
            { name: 'second', gatewaySelector: { tier: 'two' }, postSyncWait: '0s', requireApproval: true },
          ],
        },
      },
      (name) => (name === 'b' || name === 'c' ? { labels: { tier: 'two' } } : {}),
    );
    // The URL of the health check is part of the desired state.
    await plant.agents.a?.report({ stageHealth: 'Healthy' });
    const commit = await plant.push();
    await plant.untilReleased(commit, 'a');
    await untilSync(c, 'canary', ({ status }) => status?.currentStage === 'first');
    const { plan } = await c.metadata('canary');
    expect(plan['canary-a']?.healthCheckUrl).toBe('https://plant.example.com/');
    expect(plan['canary-d']).toMatchObject({ stage: 'rest', waitingFor: 'waiting for stage first' });
    expect(plan['canary-d']?.commit).not.toBe(commit);

    await plant.agents.a?.report({ stageHealth: 'Unhealthy', syncedCommit: commit });
    await c.untilCondition('canary', 'CanaryStageFailed', {
      status: 'True',
      message: 'stage first failed on gateway canary-a',
    });
    await c.advanceTime(30_000);
    await plant.untilReleased(commit, 'a');
    await plant.agents.a?.report({ stageHealth: 'Healthy', syncedCommit: commit });
    await c.until(IgnitionSync, c.key('canary'), (sync) => findCondition(sync, 'CanaryStageFailed') === undefined);
    const synced = await untilPlan(c, 'canary', (each) => each['canary-a']?.stageSyncedAt !== undefined);
    const since = Date.parse(synced['canary-a']?.stageSyncedAt ?? '');

    await c.restart();
    await untilPending('canary');
    expect(c.clock.now() - since).toBeGreaterThanOrEqual(20_000);
    await plant.untilReleased(commit, 'a');
    await c.untilEvent('canary', 'StageCompleted');

    // An approval of another commit does not count.
    const { approvedCommit, approvedBy } = CR_ANNOTATIONS;
    await c.annotate('canary', { [approvedCommit]: plan['canary-d']?.commit ?? '', [approvedBy]: 'ada' });
    await c.advanceTime(10_000);
    await plant.untilReleased(commit, 'a');
    await untilPending('canary');
    await c.annotate('canary', { [approvedCommit]: commit });
    await plant.untilReleased(commit, 'a', 'b', 'c');
    expect((await c.untilEvent('canary', 'ApprovalGiven')).note).toContain('ada approved');
    await plant.report('b', 'c');
    await plant.untilReleased(commit, 'a', 'b', 'c', 'd');
    await plant.report('d');
    await c.untilCondition('canary', 'Ready', { status: 'True' });
    const { status } = await untilSync(c, 'canary', (sync) => sync.status?.currentStage === undefined);
    expect(status?.rolledOut?.commit).toBe(commit);
  }, 120_000);
});

/** untilPending advances the time of the operator until an IgnitionSync waits for an approval. */
async function untilPending(cr: string): Promise<void> {
  await c.advanceTime(5_000);
  await untilSync(
    c,
    cr,
    (sync) => findCondition(sync, 'PendingApproval')?.status === 'True' && sync.status?.currentStage === 'second',
  );
}
