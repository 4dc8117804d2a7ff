import { afterAll, beforeAll, expect, it } from 'vitest';
import { valuesOf } from '../testing/jasm-cluster.test-support.ts';
import { type Scenario, startScenario } from './scenario.test-support.ts';

let c: Scenario;

beforeAll(async () => {
  c = await startScenario();
});
afterAll(() => c[Symbol.asyncDispose]());

it('scenario 07 warns once about a secret that does not exist, checks for it with increasing delays, and finds it', async () => {
  await c.createPod('web', c.fromAws('later'));
  const { type, note, metadata } = await c.untilEvent('web', 'SecretFetchFailed');
  expect(type).toBe('Warning');
  expect(note).toContain(c.path('later'));
  expect(note).toMatch(/the secret does not exist/);
  await c.idle();
  expect(c.callsFor('later')).toEqual(['GetSecretValue']);
  // After 1, 2, 4, 8 and then 10 minutes each, a tenth sooner at most.
  const looks: readonly (readonly [minutes: number, calls: number])[] = [
    [0.85, 1],
    [1, 2],
    [2.6, 2],
    [3, 3],
    [6.2, 3],
    [7, 4],
    [13.4, 4],
    [15, 5],
    [35, 7],
  ];
  let passed = 0;
  for (const [minutes, calls] of looks) {
    await c.advanceTime((minutes - passed) * 60_000);
    passed = minutes;
    expect(c.callsFor('later')).toHaveLength(calls);
  }
  const again = await c.untilEvent('web', 'SecretFetchFailed');
  expect([again.metadata?.name, again.series]).toEqual([metadata?.name, undefined]);
  expect(await c.events('web')).toEqual(['Warning SecretFetchFailed']);

  await c.aws.put(c.path('later'), { password: 'x' });
  await c.advanceTime(600_000);
  expect(valuesOf(await c.untilSecret('later'))).toEqual({ password: 'x' });
  await c.untilEvent('web', 'SecretSyncSuccess');
});

it('scenario 07 checks for it immediately when another pod requests it', async () => {
  await c.createPod('early', c.fromAws('soon'));
  await c.untilEvent('early', 'SecretFetchFailed');
  await c.aws.put(c.path('soon'), { password: 'x' });
  await c.createPod('late', c.fromAws('soon'));
  await c.untilSecret('soon');
  await c.untilEvent('early', 'SecretSyncSuccess');
});

it('scenario 07 keeps the content of a secret that is scheduled for deletion, and reports it', async () => {
  await c.aws.put(c.path('leaving'), { password: 'x' });
  await c.createPod('user', c.fromAws('leaving'));
  const { metadata } = await c.untilSecret('leaving');
  await c.aws.scheduleDeletion(c.path('leaving'));
  await c.createPod('newcomer', c.fromAws('leaving'));
  for (const pod of ['user', 'newcomer']) {
    expect((await c.untilEvent(pod, 'SecretFetchFailed')).note).toMatch(/scheduled for deletion; restore it/);
  }
  await c.idle();
  const kept = await c.untilSecret('leaving');
  expect(kept.metadata?.resourceVersion).toBe(metadata?.resourceVersion);
  const calls = c.callsFor('leaving').length;
  await c.advanceTime(50_000);
  expect(c.callsFor('leaving')).toHaveLength(calls);
  await c.aws.restore(c.path('leaving'));
  await c.advanceTime(10_000);
  await c.untilEvent('newcomer', 'SecretSyncSuccess');
});

it('scenario 07 keeps the content of a secret that was deleted', async () => {
  await c.aws.put(c.path('gone'), { password: 'x' });
  await c.createPod('holder', c.fromAws('gone'));
  await c.untilSecret('gone');
  await c.aws.remove(c.path('gone'));
  await c.force('holder', '1');
  expect((await c.untilEvent('holder', 'SecretFetchFailed')).note).toContain(c.path('gone'));
  expect(valuesOf(await c.untilSecret('gone'))).toEqual({ password: 'x' });
});

it('scenario 07 does not retry by itself when retries are disabled', async () => {
  await using strict = await startScenario({ config: { permanentErrorRequeue: '0s' } });
  await strict.createPod('web', strict.fromAws('never'));
  await strict.untilEvent('web', 'SecretFetchFailed');
  await strict.aws.put(strict.path('never'), { password: 'x' });
  await strict.advanceTime(3_600_000);
  expect(strict.callsFor('never')).toEqual(['GetSecretValue']);
  await strict.force('web', 'now');
  await strict.untilSecret('never');
});
