import { Pod } from '@bowline/kubernetes';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { POD_ANNOTATIONS, SECRET_ANNOTATIONS } from '../api/names.ts';
import { podSpec, textOf, valuesOf } from '../testing/jasm-cluster.test-support.ts';
import { type Scenario, startScenario } from './scenario.test-support.ts';

let c: Scenario;

beforeAll(async () => {
  c = await startScenario();
});
afterAll(() => c[Symbol.asyncDispose]());

it('scenario 04 updates a changed value when a new pod requests it, and does not write an unchanged one', async () => {
  await c.aws.put(c.path('db'), { username: 'admin', password: 'old' });
  await c.createPod('web-1', c.fromAws('db'));
  const first = await c.untilSecret('db');
  await c.untilEvent('web-1', 'SecretSyncSuccess');

  const version = await c.aws.put(c.path('db'), { password: 'new' });
  await c.advanceTime(60_000);
  expect((await c.untilSecret('db')).metadata?.resourceVersion).toBe(first.metadata?.resourceVersion);
  await c.createPod('web-2', c.fromAws('db'));
  const second = await c.untilSecret('db', (secret) => valuesOf(secret).password === 'new');
  expect(valuesOf(second)).toEqual({ password: 'new' });
  expect(second.metadata?.uid).toBe(first.metadata?.uid);
  expect(second.metadata?.annotations?.[SECRET_ANNOTATIONS.version]).toBe(version);
  for (const mark of [SECRET_ANNOTATIONS.version, SECRET_ANNOTATIONS.dataHash, SECRET_ANNOTATIONS.syncedAt]) {
    expect(second.metadata?.annotations?.[mark]).not.toBe(first.metadata?.annotations?.[mark]);
  }
  await c.untilEvent('web-2', 'SecretSyncSuccess', ({ note }) => note?.includes('was updated from') ?? false);
  expect(c.callsFor('db')).toEqual(['GetSecretValue', 'DescribeSecret', 'GetSecretValue']);

  await c.advanceTime(60_000);
  await c.createPod('web-3', c.fromAws('db'));
  await c.untilEvent('web-3', 'SecretSyncSuccess', ({ note }) => note?.includes('is in sync with') ?? false);
  await c.idle();
  expect((await c.untilSecret('db')).metadata?.resourceVersion).toBe(second.metadata?.resourceVersion);
  expect(c.callsFor('db').slice(3)).toEqual(['DescribeSecret']);
});

it('scenario 04 updates only the version of a Secret when a new version has the same content', async () => {
  await c.aws.put(c.path('same'), { password: 'x' });
  await c.createPod('same-1', c.fromAws('same'));
  const first = await c.untilSecret('same');
  await c.advanceTime(60_000);
  const version = await c.aws.put(c.path('same'), '{ "password" : "x" }');
  await c.createPod('same-2', c.fromAws('same'));
  const second = await c.untilSecret(
    'same',
    ({ metadata }) => metadata?.annotations?.[SECRET_ANNOTATIONS.version] === version,
  );
  expect(second.data).toEqual(first.data);
  expect(second.metadata?.annotations?.[SECRET_ANNOTATIONS.syncedAt]).toBe(
    first.metadata?.annotations?.[SECRET_ANNOTATIONS.syncedAt],
  );
});

it('scenario 04 serves a pod whose annotation is added later, and does nothing when an annotation is removed', async () => {
  await c.aws.put(c.path('late'), { password: 'x' });
  const key = { namespace: c.namespace, name: 'late' };
  const asks = (annotation: string | null): Promise<Pod> =>
    c.admin.patch(Pod, key, {
      type: 'merge',
      body: { metadata: { annotations: { [POD_ANNOTATIONS.secretSync]: annotation } } },
    });
  await c.admin.create(Pod, { metadata: key, spec: podSpec() });
  await c.caughtUp();
  expect(c.callsFor('late')).toEqual([]);
  await asks(textOf(c.fromAws('late')));
  await c.untilSecret('late');
  await c.untilEvent('late', 'SecretSyncSuccess');

  await asks(null);
  await c.aws.put(c.path('late'), { password: 'new' });
  await c.advanceTime(24 * 3_600_000);
  expect(c.callsFor('late')).toEqual(['GetSecretValue']);
  expect(valuesOf(await c.untilSecret('late'))).toEqual({ password: 'x' });
});
