import { ConfigMap } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { objectNames } from '../api/names.ts';
import type { GatewayReport } from '../protocol/gateway-report.ts';
import { AgentClock, advancing } from './agent-channel.test-support.ts';
import { agentRig, CR, FIRST } from './agent-rig.test-support.ts';

const VIEW = 'projects/overview/view/view.json';

it('scenario 19 sends changes of the gateway while bidirectional is enabled', async () => {
  const rig = await agentRig();
  const clock = new AgentClock();
  const key = { namespace: rig.c.namespace, name: objectNames(CR).changes };
  const auth = { token: { secretRef: { name: 'git', key: 'token' } } };
  const bidirectional = { enabled: true, watchPaths: ['projects'], debounce: '10s' };
  const git = { repo: 'https://git.example.com/plant.git', ref: 'main', auth };
  const commit = await rig.commit(FIRST);
  await rig.gateway.start();
  await rig.publish(commit, { spec: { bidirectional, git } });
  await rig.start({ clock });
  await advancing(
    clock,
    rig.untilReport(({ syncStatus, isWatching }) => syncStatus === 'Synced' && isWatching === true),
    250,
  );
  await rig.place(VIEW, '{"version": "from the gateway"}');
  const sent = await advancing(
    clock,
    rig.c.until(ConfigMap, key, ({ data }) => data?.site !== undefined),
    500,
  );
  expect(JSON.parse(sent.data?.site ?? '')).toMatchObject({
    gateway: 'site',
    commit,
    files: [{ path: `services/site/${VIEW}`, action: 'modified' }],
  });
  // As the controller does when it has processed them.
  await rig.c.admin.patch(ConfigMap, key, { type: 'merge', body: { data: { site: null } } });
  await rig.publish(commit, { spec: { bidirectional: { ...bidirectional, enabled: false }, git } });
  await advancing(
    clock,
    rig.untilReport(({ isWatching }) => isWatching === undefined),
    500,
  );
});

it('scenario 19 keeps a file that only the gateway changed when another commit arrives, unless Git wins', async () => {
  const rig = await agentRig();
  const clock = new AgentClock();
  const publish = async (commit: string, conflictStrategy: 'gatewayWins' | 'gitWins'): Promise<void> => {
    const hash = await rig.publish(commit, {
      spec: { bidirectional: { enabled: true, watchPaths: ['projects'], conflictStrategy } },
    });
    const isSynced = ({ syncStatus, appliedHash }: GatewayReport): boolean =>
      syncStatus === 'Synced' && appliedHash === hash;
    await advancing(clock, rig.untilReport(isSynced), 250);
  };
  const commit = await rig.commit(FIRST);
  await rig.gateway.start();
  await rig.start({ clock });
  await publish(commit, 'gatewayWins');
  await rig.place(VIEW, '{"version": "from the gateway"}');
  const other = 'projects/overview/other.txt';
  const next = await rig.commit({ [`services/site/${other}`]: 'other' });
  await publish(next, 'gatewayWins');
  expect(await rig.files()).toMatchObject({ [VIEW]: '{"version": "from the gateway"}', [other]: 'other' });
  await publish(next, 'gitWins');
  expect((await rig.files())[VIEW]).toBe('{"version": 1}');
});
