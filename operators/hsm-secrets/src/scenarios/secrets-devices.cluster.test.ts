import { findCondition } from '@bowline/runtime';
import { expect, it } from 'vitest';
import { HSMSecret } from '../api/hsm-secret.ts';
import { secretsCluster } from '../testing/secrets-cluster.test-support.ts';
import { TokenError } from '../token/token-error.ts';

const data = { password: 'hunter2-of-the-test' };

it('reads only the primary device without mirroring', async () => {
  await using c = await secretsCluster({ nodes: 2 });
  const [first, second] = c.devices;
  await first?.write('database', data);
  await second?.write('database', { password: 'another' });
  await c.createSecret('database');
  const object = await c.untilSynced('database');
  expect(object.status?.deviceSyncStatus?.map(({ deviceName }) => deviceName)).toEqual(['S1']);
  await c.advanceTime(60_000);
  expect(await c.valuesOf('database')).toEqual(data);
  expect(second?.calls).toEqual([]);
});

it('asks all mirrored devices, reads the primary one, and another one if it fails', async () => {
  await using c = await secretsCluster({ nodes: 2, spec: { mirroring: { policy: 'Active' } } });
  const [first, second] = c.devices;
  if (!first || !second) throw new Error('there are not two devices');
  for (const device of [first, second]) await device.write('database', data);
  await c.createSecret('database');
  const object = await c.untilSynced('database');
  expect(object.status?.deviceSyncStatus?.map(({ deviceName, status }) => [deviceName, status])).toEqual([
    ['S1', 'InSync'],
    ['S2', 'InSync'],
  ]);
  expect(findCondition(object, 'DevicesConsistent')?.status).toBe('True');
  await first.write('database', { password: 'changed' });
  await c.advanceTime(30_000);
  const diverged = await c.until(HSMSecret, { name: 'database' }, ({ status }) => status?.syncConflict === true);
  expect(findCondition(diverged, 'DevicesConsistent')).toMatchObject({ status: 'False', reason: 'Diverged' });
  expect(await c.valuesOf('database')).toEqual({ password: 'changed' });
  await second.write('database', { password: 'changed again' });
  first.failure = new TokenError('Unavailable', 'the token is unplugged');
  await c.advanceTime(30_000);
  expect(await c.valuesOf('database')).toEqual({ password: 'changed again' });
  const degraded = await c.untilSynced('database');
  expect(findCondition(degraded, 'DevicesConsistent')?.status).toBe('Unknown');
  expect(degraded.status?.deviceSyncStatus?.map(({ deviceName, status }) => [deviceName, status])).toEqual([
    ['S1', 'Error'],
    ['S2', 'InSync'],
  ]);
});
