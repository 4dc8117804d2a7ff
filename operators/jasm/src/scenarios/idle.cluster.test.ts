import { Pod } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { valuesOf } from '../testing/jasm-cluster.test-support.ts';
import { startScenario } from './scenario.test-support.ts';

const HOUR_MS = 3_600_000;

it('scenario 05 calls no store and writes nothing in ten idle minutes, whatever the status of pods is', async () => {
  await using c = await startScenario();
  await c.aws.put(c.path('db'), { password: 'x' });
  for (const name of ['web-1', 'web-2']) {
    await c.createPod(name, c.fromAws('db'));
    await c.untilEvent(name, 'SecretSyncSuccess');
  }
  await c.caughtUp();
  const calls = c.callsFor('db');
  const since = Date.now();

  for (const message of ['waiting', 'still waiting', 'waiting for a node']) {
    const body = { status: { message, conditions: [{ type: 'PodScheduled', status: 'False', message }] } };
    const key = { namespace: c.namespace, name: 'web-1' };
    await c.admin.patch(Pod, key, { type: 'strategic', body }, { subresource: 'status' });
    await c.advanceTime(200_000);
  }
  // Observing a later pod proves that the earlier ones were observed; its own calls and writes do not count.
  await c.caughtUp();
  expect(c.callsFor('db')).toEqual(calls);
  expect((await c.writes(since)).filter((write) => !write.includes('/caught-up-'))).toEqual([]);
});

it('scenario 05 checks the version of a source every ten hours, plus or minus 10 %, and reads a changed value', async () => {
  await using c = await startScenario();
  await c.aws.put(c.path('db'), { password: 'x' });
  await c.createPod('web', c.fromAws('db'));
  const { metadata } = await c.untilSecret('db');
  await c.untilEvent('web', 'SecretSyncSuccess');
  await c.advanceTime(11 * HOUR_MS);
  expect(c.callsFor('db')).toEqual(['GetSecretValue', 'DescribeSecret']);
  expect((await c.untilSecret('db')).metadata?.resourceVersion).toBe(metadata?.resourceVersion);
  await c.aws.put(c.path('db'), { password: 'new' });
  await c.advanceTime(11 * HOUR_MS);
  expect(valuesOf(await c.untilSecret('db'))).toEqual({ password: 'new' });
  expect(c.callsFor('db').slice(2)).toEqual(['DescribeSecret', 'GetSecretValue']);
});

it('scenario 05 never checks a source periodically when resync is disabled', async () => {
  await using c = await startScenario({ config: { resyncPeriod: '0s' } });
  await c.aws.put(c.path('db'), { password: 'x' });
  await c.createPod('web', c.fromAws('db'));
  await c.untilEvent('web', 'SecretSyncSuccess');
  await c.advanceTime(100 * HOUR_MS);
  expect(c.callsFor('db')).toEqual(['GetSecretValue']);
});
