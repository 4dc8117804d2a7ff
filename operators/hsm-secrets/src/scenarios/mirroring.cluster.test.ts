import type { ObjectKey } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import type { PoolStatus } from '../api/hsm-pool.ts';
import { type HsmCluster, hsmCluster } from '../testing/hsm-cluster.test-support.ts';
import { type TokenAgent, TokenAgents } from '../testing/token-agents.test-support.ts';

const SERIALS = ['A', 'B', 'C'];
const MINUTE_MS = 60_000;

interface Mirrored {
  readonly c: HsmCluster;
  readonly agents: TokenAgents;
  readonly device: ObjectKey;
  readonly tokens: readonly [TokenAgent, TokenAgent, TokenAgent];
}

/** Three devices on three nodes, whose secrets are mirrored. */
async function mirrored(policy: string): Promise<Mirrored> {
  const agents = new TokenAgents();
  const c = await hsmCluster({ nodes: 3, agents });
  const device = { namespace: c.namespace, name: 'pico' };
  await c.createDevice('pico', { mirroring: { policy } });
  for (const [index, serial] of SERIALS.entries())
    await c.report(await c.discoveryPod('pico', c.nodes[index] ?? ''), [serial]);
  const tokens = SERIALS.map((serial) => agents.add(device, serial)) as [TokenAgent, TokenAgent, TokenAgent];
  await c.untilPool(
    'pico',
    ({ availableDevices, mirroring }) => availableDevices === 3 && mirroring?.primarySerial === 'A',
  );
  await c.idle();
  return { c, agents, device, tokens };
}

/** The password at the path on each device; undefined if there is none. */
async function passwords(tokens: readonly TokenAgent[]): Promise<readonly unknown[]> {
  return await Promise.all(
    tokens.map(({ service }) =>
      service.read('db').then(
        ({ data }) => String(data.password),
        () => undefined,
      ),
    ),
  );
}

it('scenario 36 copies what a majority has to the other devices, and reports the roles', async () => {
  const { c, tokens } = await mirrored('Active');
  await using _ = c;
  const [a, b, outlier] = tokens;
  for (const token of [a, b]) await token.write('db', { password: 'right' });
  await outlier.write('db', { password: 'wrong' });
  await c.advanceTime(MINUTE_MS);
  expect(await passwords(tokens)).toEqual(['right', 'right', 'right']);
  await c.untilEvent('pico-pool', 'DevicesDiverged', 'db');
  const { status } = await c.pool('pico');
  expect(status?.aggregatedDevices?.map(({ id, role }) => [id, role])).toEqual([
    ['A', 'Primary'],
    ['B', 'Standby'],
    ['C', 'Standby'],
  ]);
  await c.idle();
  const since = Date.now();
  await c.advanceTime(3 * MINUTE_MS);
  expect(await c.writes(since)).toEqual([]);
});

it('scenario 36 does not take a read error for absence, and completes a deletion that a device has missed', async () => {
  const { c, agents, device, tokens } = await mirrored('Active');
  await using _ = c;
  const [a, b, away] = tokens;
  await a.write('db', { password: 'x' });
  await c.advanceTime(MINUTE_MS);
  expect(await passwords(tokens)).toEqual(['x', 'x', 'x']);
  agents.stop(device, away);
  for (const token of [a, b]) await token.remove('db');
  await c.advanceTime(MINUTE_MS);
  const failing = (await c.pool('pico')).status?.mirroring?.syncErrors ?? [];
  expect(failing.join()).toContain('device C');
  agents.add(device, 'C', away.token);
  await c.idle();
  await c.advanceTime(MINUTE_MS);
  expect(await passwords(tokens)).toEqual([undefined, undefined, undefined]);
});

it('scenario 36 with ReadOnly copies the primary device, and fails over when it is lost', async () => {
  const { c, agents, device, tokens } = await mirrored('ReadOnly');
  await using _ = c;
  const [primary, b, other] = tokens;
  await primary.write('db', { password: 'primary' });
  await other.write('db', { password: 'newer but not primary' });
  await c.advanceTime(MINUTE_MS);
  expect(await passwords(tokens)).toEqual(['primary', 'primary', 'primary']);
  agents.stop(device, primary);
  await c.report(await c.discoveryPod('pico', c.nodes[0] ?? ''), []);
  const moved = await c.untilPool('pico', ({ mirroring }: PoolStatus) => mirroring?.primarySerial === 'B');
  expect(moved.status?.mirroring).toMatchObject({ failoverCount: 1, primaryNode: c.nodes[1] });
  await c.idle();
  await b.write('db', { password: 'after failover' });
  await c.advanceTime(2 * MINUTE_MS);
  expect(await passwords([b, other])).toEqual(['after failover', 'after failover']);
});
