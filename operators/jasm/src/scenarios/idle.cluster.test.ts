import { Pod } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { startScenario } from './scenario.test-support.ts';

it('scenario 05 calls no store and writes nothing in ten idle minutes, whatever the status of pods says', async () => {
  await using c = await startScenario();
  await c.aws.put(c.path('db'), { password: 'x' });
  for (const name of ['web-1', 'web-2']) {
    await c.ask(name, c.fromAws('db'));
    await c.untilEvent(name, 'SecretSyncSuccess');
  }
  await c.caughtUp();
  const calls = c.callsFor('db');
  const since = Date.now();

  for (const message of ['waiting', 'still waiting', 'waiting for a node']) {
    const body = { status: { message, conditions: [{ type: 'PodScheduled', status: 'False', message }] } };
    const key = { namespace: c.namespace, name: 'web-1' };
    await c.admin.patch(Pod, key, { type: 'strategic', body }, { subresource: 'status' });
    await c.pass(200_000);
  }
  // What is seen after them shows that they were seen; what that takes does not count.
  await c.caughtUp();
  expect(c.callsFor('db')).toEqual(calls);
  expect((await c.writes(since)).filter((write) => !write.includes('/caught-up-'))).toEqual([]);
});
