import { Secret } from '@bowline/kubernetes';
import { Event } from '@bowline/kubernetes/events-v1';
import { forEachConcurrently } from '@bowline/machinery';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SECRET_LABELS } from '../api/names.ts';
import { valuesOf } from '../testing/jasm-cluster.test-support.ts';
import { type Scenario, startScenario } from './scenario.test-support.ts';

let c: Scenario;

beforeAll(async () => {
  c = await startScenario();
});
afterAll(() => c[Symbol.asyncDispose]());

const names = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

/** askAll creates pods, as fast as the API server accepts them. */
async function askAll(pods: readonly string[], ask: (pod: string) => Readonly<Record<string, unknown>>): Promise<void> {
  expect(await forEachConcurrently(pods, 16, (pod) => c.createPod(pod, ask(pod)))).toEqual([]);
}

/** untilSecrets waits for Secrets of these names, and returns them. */
async function untilSecrets(wanted: readonly string[]): Promise<readonly Secret[]> {
  const isWanted = ({ metadata }: Secret): boolean => wanted.includes(metadata?.name ?? '');
  const hasAll = (secrets: readonly Secret[]): boolean => secrets.filter(isWanted).length === wanted.length;
  const limits = { timeoutMs: 40_000 };
  return (await c.untilList(Secret, { labelSelector: SECRET_LABELS.provider }, hasAll, limits)).filter(isWanted);
}

const valuesRead = (name: string): number =>
  c.callsFor(name).filter((operation) => operation === 'GetSecretValue').length;

it('scenario 03 reads a value once for fifty pods that request it at the same time', async () => {
  await c.aws.put(c.path('one'), { password: 'x' });
  const pods = names('replica', 50);
  await askAll(pods, () => c.fromAws('one'));
  await c.untilSecret('one');
  await c.caughtUp();
  expect(valuesRead('one')).toBe(1);
  const { items } = await c.admin.list(Event, { namespace: c.namespace });
  const told = items.filter(({ regarding }) => pods.includes(regarding?.name ?? ''));
  expect(told.map(({ reason, regarding }) => `${reason} ${regarding?.name}`).sort()).toEqual(
    pods.map((pod) => `SecretSyncSuccess ${pod}`).sort(),
  );
});

it('scenario 03 reads a value once for fifty Secrets that are requested at the same time', async () => {
  await c.aws.put(c.path('many'), { password: 'x' });
  const pods = names('many', 50);
  await askAll(pods, (secretName) => c.fromAws('many', { secretName }));
  await untilSecrets(pods);
  expect(valuesRead('many')).toBe(1);
});

it('scenario 03 calls a store once for fifty pods that existed before the operator', async () => {
  await c.aws.put(c.path('before'), { password: 'x' });
  await c.stop();
  const pods = names('before', 50);
  await askAll(pods, (secretName) => c.fromAws('before', { secretName }));
  await c.restart();
  await untilSecrets(pods);
  await c.idle();
  expect(c.callsFor('before')).toEqual(['GetSecretValue']);
});

it('scenario 03 serves a hundred pods that request different secrets', async () => {
  const pods = names('different', 100);
  expect(await forEachConcurrently(pods, 8, (name) => c.aws.put(c.path(name), { name }))).toEqual([]);
  await askAll(pods, (name) => c.fromAws(name));
  const secrets = await untilSecrets(pods);
  expect(secrets.map((secret) => valuesOf(secret).name).sort()).toEqual(pods.toSorted());
  for (const pod of pods) expect(c.callsFor(pod)).toEqual(['GetSecretValue']);
});
