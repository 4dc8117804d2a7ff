import { Node, Pod } from '@bowline/kubernetes';
import { forEachConcurrently } from '@bowline/machinery';
import { expect, it } from 'vitest';
import { type DiscoveredGateway, IgnitionSync } from '../api/ignition-sync.ts';
import { startControllerScenario } from './controller.test-support.ts';
import { createGateway, untilSync } from './gateways.test-support.ts';

it('scenario 09 serves the first 400 gateways, and reports that there are more', async () => {
  await using c = await startControllerScenario();
  const untilGateways = async (
    test: (gateways: readonly DiscoveredGateway[]) => boolean,
  ): Promise<readonly DiscoveredGateway[]> => {
    const { status } = await untilSync(c, 'crowd', (sync) => test(sync.status?.discoveredGateways ?? []));
    return status?.discoveredGateways ?? [];
  };
  await c.sync('crowd');
  await c.untilCondition('crowd', 'RepoCloned', { status: 'True' });
  const [node] = (await c.admin.list(Node)).items;
  const names = Array.from({ length: 401 }, (_, index) => `crowd-${String(index).padStart(3, '0')}`);
  // A scheduler would limit the pods of a node, and the webhook would be called for each.
  const options = { node: node?.metadata?.name ?? '', annotations: { inject: 'false' } };
  await forEachConcurrently(names, 16, (name) => createGateway(c, name, 'crowd', options));
  await c.untilCondition('crowd', 'TooManyGateways', { status: 'True', message: '401 gateways' });
  const gateways = await untilGateways(({ length }) => length === 400);
  expect([gateways[0]?.name, gateways.at(-1)?.name]).toEqual(['crowd-000', 'crowd-399']);
  await c.admin.delete(Pod, c.key('crowd-000'));
  await c.until(IgnitionSync, c.key('crowd'), ({ status }) =>
    (status?.conditions ?? []).every(({ type }) => type !== 'TooManyGateways'),
  );
  const others = await untilGateways(([first]) => first?.name === 'crowd-001');
  expect([others.length, others.at(-1)?.name]).toEqual([400, 'crowd-400']);
}, 300_000);
