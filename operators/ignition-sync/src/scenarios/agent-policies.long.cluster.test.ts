import { expect, it } from 'vitest';
import { AgentClock, advancing } from './agent-channel.test-support.ts';
import { type AgentRig, agentRig, FIRST } from './agent-rig.test-support.ts';

const VIEW = 'projects/overview/view/view.json';
const SECOND = { [`services/site/${VIEW}`]: '{"version": 2}' };
const ANN = { id: 'd1', user: 'ann', project: 'overview' };

const synced =
  (commit: string) => (report: { readonly syncStatus: string; readonly syncedCommit?: string | undefined }) =>
    report.syncStatus === 'Synced' && report.syncedCommit === commit;

/** A gateway at its first commit, whose agent follows a virtual clock. */
async function synced1(): Promise<{ readonly rig: AgentRig; readonly clock: AgentClock }> {
  const rig = await agentRig();
  const clock = new AgentClock();
  const commit = await rig.commit(FIRST);
  await rig.gateway.start();
  await rig.publish(commit);
  await rig.start({ clock });
  await advancing(clock, rig.untilReport(synced(commit)), 100);
  return { rig, clock };
}

it('scenario 17 waits for a Designer in a changed project, and syncs when it is closed', async () => {
  const { rig, clock } = await synced1();
  await rig.gateway.change({ designers: [ANN, { ...ANN, id: 'd2', project: 'line-1' }] });
  const second = await rig.commit(SECOND);
  await rig.publish(second);
  const waiting = await advancing(
    clock,
    rig.untilReport(({ sessionsBlocking }) => sessionsBlocking !== undefined),
    100,
  );
  // The Designer in the other project does not count.
  expect(waiting.sessionsBlocking).toBe(1);
  expect((await rig.files())[VIEW]).toBe('{"version": 1}');
  await rig.gateway.change({ designers: [{ ...ANN, id: 'd2', project: 'line-1' }] });
  const report = await advancing(clock, rig.untilReport(synced(second)));
  expect(report.sessionsBlocking).toBeUndefined();
});

it('scenario 17 counts Designers of all projects when tags change', async () => {
  const { rig, clock } = await synced1();
  await rig.gateway.change({ designers: [{ ...ANN, project: 'line-1' }] });
  const path = 'services/site/config/resources/core/ignition/tag-definition/default/tags.json';
  await rig.publish(await rig.commit({ [path]: '[]' }), { spec: { ignition: { designerSessionPolicy: 'fail' } } });
  await advancing(
    clock,
    rig.untilReport(({ errorReason }) => errorReason === 'DesignerSessionsBlocked'),
    100,
  );
});

it('scenario 17 gives up after the timeout, and tries again later', async () => {
  const { rig, clock } = await synced1();
  await rig.gateway.change({ designers: [ANN] });
  const second = await rig.commit(SECOND);
  await rig.publish(second, { spec: { ignition: { designerSessionTimeout: '2m' } } });
  const report = await advancing(
    clock,
    rig.untilReport(({ errorReason }) => errorReason === 'DesignerSessionsBlocked'),
  );
  expect(report.errorMessage).toContain('after 120 s with open Designers: ann in overview');
  expect((await rig.untilEvent('DesignerSessionsBlocked')).note).toContain('close the Designers');
  expect((await rig.files())[VIEW]).toBe('{"version": 1}');
  await rig.gateway.change({ designers: [] });
  await advancing(clock, rig.untilReport(synced(second)));
});

it('scenario 17 proceeds with the policy proceed, and if the gateway does not list sessions', async () => {
  const { rig, clock } = await synced1();
  await rig.gateway.change({ designers: [ANN] });
  const second = await rig.commit(SECOND);
  await rig.publish(second, { spec: { ignition: { designerSessionPolicy: 'proceed' } } });
  await advancing(clock, rig.untilReport(synced(second)));
  await rig.gateway.change({ responses: [{ path: '/data/api/v1/designers', status: 500 }] });
  const third = await rig.commit({ [`services/site/${VIEW}`]: '{"version": 3}' });
  await rig.publish(third, { spec: { ignition: { designerSessionPolicy: 'fail' } } });
  await advancing(clock, rig.untilReport(synced(third)));
});

it('scenario 17 waits for Perspective sessions until the timeout of graceful, and then continues', async () => {
  const { rig, clock } = await synced1();
  await rig.gateway.change({ sessions: [{ id: 's1', user: 'eve' }] });
  const second = await rig.commit(SECOND);
  const ignition = { perspectiveSessionPolicy: 'graceful', perspectiveSessionTimeout: '1m' } as const;
  await rig.publish(second, { spec: { ignition } });
  const startedAt = clock.monotonic();
  await advancing(clock, rig.untilReport(synced(second)));
  expect(clock.monotonic() - startedAt).toBeGreaterThanOrEqual(60_000);
  await rig.untilLine(({ msg, sessions }) => String(msg).includes('Perspective') && sessions === 1);
});

it('syncs one state at a time: changes during a sync go into the next one, and the latest commit wins', async () => {
  const { rig, clock } = await synced1();
  await rig.gateway.change({ designers: [ANN] });
  await rig.publish(await rig.commit(SECOND));
  await advancing(
    clock,
    rig.untilReport(({ sessionsBlocking }) => sessionsBlocking === 1),
    100,
  );
  await rig.publish(await rig.commit({ [`services/site/${VIEW}`]: '{"version": 3}' }));
  const last = await rig.commit({ [`services/site/${VIEW}`]: '{"version": 4}' });
  await rig.publish(last);
  await rig.gateway.change({ designers: [] });
  await advancing(clock, rig.untilReport(synced(last)));
  await rig.untilLine(({ msg, commit }) => msg === 'sync' && commit === last);
  const commits = rig.lines.filter(({ msg }) => msg === 'sync').map(({ commit }) => commit);
  expect(commits).toHaveLength(3);
});
