import { Namespace, Pod, Secret } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { startScenario } from './scenario.test-support.ts';

it('writes nothing to a terminating namespace, although a pod in it still requests a Secret', async () => {
  await using c = await startScenario();
  const namespace = await c.createNamespace('scenario-going');
  await c.aws.put(c.path('db'), { password: 'x' });
  await c.createPod('web', c.fromAws('db'), { namespace });
  await c.until(Secret, { namespace, name: 'db' }, () => true);
  const hold = (finalizers: readonly string[] | null) =>
    c.admin.patch(Pod, { namespace, name: 'web' }, { type: 'merge', body: { metadata: { finalizers } } });
  await hold(['example.com/held']);
  await c.idle();
  const from = { requests: c.requests.length, calls: c.calls.length };

  await c.admin.delete(Namespace, { name: namespace });
  await c.until(Namespace, { name: namespace }, ({ status }) => status?.phase === 'Terminating');
  await c.caughtUp();
  await c.admin.delete(Secret, { namespace, name: 'db' });
  await c.caughtUp();
  expect(c.requests.slice(from.requests).filter((each) => each.includes(` ${namespace}`))).toEqual([]);
  expect(c.calls.slice(from.calls).filter((call) => call.includes(c.path('db')))).toEqual([]);
  await hold(null);
  await c.untilGone(Namespace, { name: namespace });
});
