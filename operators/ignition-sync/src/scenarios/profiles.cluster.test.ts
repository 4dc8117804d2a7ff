import { ConfigMap } from '@bowline/kubernetes';
import { findCondition } from '@bowline/runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { IgnitionSync } from '../api/ignition-sync.ts';
import { CR_ANNOTATIONS, objectNames } from '../api/names.ts';
import { profile as profileSpec } from '../api/specs.test-support.ts';
import { SyncProfile } from '../api/sync-profile.ts';
import { type ControllerScenario, startControllerScenario } from './controller.test-support.ts';
import { agentOf, messageOf, runGateways, untilPlan, untilSync } from './gateways.test-support.ts';

let c: ControllerScenario;
beforeAll(async () => {
  c = await startControllerScenario();
  await c.sync('plant');
  await c.untilCondition('plant', 'RepoCloned', { status: 'True' });
  await c.until(ConfigMap, c.key(objectNames('plant').metadata), () => true);
}, 60_000);
afterAll(() => c[Symbol.asyncDispose]());

const create = (name: string, changes: object = {}): Promise<SyncProfile> =>
  c.admin.create(SyncProfile, SyncProfile.withDefaults({ metadata: c.key(name), spec: profileSpec(changes) }));

const change = (name: string, spec: object): Promise<SyncProfile> =>
  c.admin.patch(SyncProfile, c.key(name), { type: 'merge', body: { spec } });

const untilAccepted = (name: string, status: string, reason: string): Promise<SyncProfile> =>
  c.until(SyncProfile, c.key(name), (each) => {
    const accepted = findCondition(each, 'Accepted');
    return accepted?.status === status && accepted.reason === reason;
  });

const dependsOn = (...names: string[]): object => ({ dependsOn: names.map((profileName) => ({ profileName })) });

describe('a SyncProfile', () => {
  it('is judged again when the profiles change that it depends on', async () => {
    await create('upper', dependsOn('lower'));
    await untilAccepted('upper', 'False', 'DependencyNotFound');
    await create('lower');
    await untilAccepted('upper', 'True', 'ValidationPassed');
    await change('lower', dependsOn('upper'));
    const { status } = await untilAccepted('upper', 'False', 'CycleDetected');
    expect(status?.conditions?.find(({ type }) => type === 'Accepted')?.message).toContain('upper -> lower -> upper');
    await untilAccepted('lower', 'False', 'CycleDetected');
    await c.untilEvent('upper', 'CycleDetected');
    await change('lower', { dependsOn: null });
    await untilAccepted('upper', 'True', 'ValidationPassed');
    await untilAccepted('lower', 'True', 'ValidationPassed');
  }, 60_000);

  it('counts its gateways, and decides about their order and desired state', async () => {
    await runGateways(c, ['a-upper', 'b-lower', 'c-unknown'], 'plant', (name) => ({
      annotations: { syncProfile: name.slice(2) },
    }));
    await c.until(SyncProfile, c.key('upper'), ({ status }) => status?.gatewayCount === 1);
    await untilPlan(c, 'plant', (plan) => Object.keys(plan).length === 3);
    // The agent of the third one reports ProfileNotFound.
    expect(Object.keys((await c.metadata('plant')).profiles)).toEqual(['lower', 'upper']);
    const [upper, lower, unknown] = [
      await agentOf(c, 'a-upper', 'plant'),
      await agentOf(c, 'b-lower', 'plant'),
      await agentOf(c, 'c-unknown', 'plant'),
    ];
    await lower.report();
    await upper.report();
    await unknown.report({ syncStatus: 'Error', errorReason: 'ProfileNotFound', errorMessage: 'create it' });
    await untilSync(c, 'plant', (sync) => /^2\/3 .*ProfileNotFound/.test(messageOf(sync, 'AllGatewaysSynced')));
    const commit = await c.repository.commit({ 'services/site/projects/overview/project.json': '{"title":"new"}' });
    await c.annotate('plant', { [CR_ANNOTATIONS.requestedAt]: '2026-01-01T00:00:00Z' });
    const plan = await untilPlan(c, 'plant', (each) => each['b-lower']?.commit === commit);
    expect(plan['a-upper']).toMatchObject({
      waitingFor: 'waiting for gateway b-lower, whose profile its own depends on',
    });
    await lower.report();
    await untilPlan(c, 'plant', (each) => each['a-upper']?.commit === commit);
    await upper.report();
    await untilSync(c, 'plant', (sync) => /^2\/3 /.test(messageOf(sync, 'AllGatewaysSynced')));
  }, 60_000);

  it('changes what its gateways should have, without a new commit', async () => {
    const { commit } = await c.metadata('plant');
    const statusOf = ({ status }: IgnitionSync, name: string) =>
      status?.discoveredGateways?.find((each) => each.name === name)?.syncStatus;
    await change('lower', { syncPeriod: 60 });
    const sync = await untilSync(c, 'plant', (each) => statusOf(each, 'b-lower') === 'Pending');
    expect(statusOf(sync, 'a-upper')).toBe('Synced');
    const agent = await agentOf(c, 'b-lower', 'plant');
    const metadata = await agent.metadata();
    expect([metadata.commit, metadata.profiles.lower?.spec?.syncPeriod]).toEqual([commit, 60]);
    await agent.report();
    await untilSync(c, 'plant', (sync) => /^2\/3 /.test(messageOf(sync, 'AllGatewaysSynced')));
  }, 60_000);

  it('is not written in a steady state, also after a restart', async () => {
    await c.idle();
    const versions = async () =>
      (await c.admin.list(SyncProfile, { namespace: c.namespace })).items.map(
        ({ metadata }) => metadata?.resourceVersion,
      );
    const before = await versions();
    await c.advanceTime(120_000);
    await c.restart();
    await c.idle();
    expect(await versions()).toEqual(before);
  }, 60_000);
});
