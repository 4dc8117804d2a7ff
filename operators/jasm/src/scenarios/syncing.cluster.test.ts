import { Secret } from '@bowline/kubernetes';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MANAGED_BY, SECRET_ANNOTATIONS, SECRET_LABELS } from '../api/names.ts';
import { valuesOf } from '../testing/jasm-cluster.test-support.ts';
import { type Scenario, startScenario } from './scenario.test-support.ts';

let c: Scenario;

beforeAll(async () => {
  c = await startScenario();
});
afterAll(() => c[Symbol.asyncDispose]());

it('scenario 01: a pod that asks gets a Secret with all keys, and is told once', async () => {
  const version = await c.aws.put(c.path('db'), { username: 'admin', password: 'correct horse', port: 5432 });
  const pod = await c.ask('web', c.fromAws('db'));
  const secret = await c.untilSecret('db');
  expect(valuesOf(secret)).toEqual({ username: 'admin', password: 'correct horse', port: '5432' });
  expect(secret.type).toBe('Opaque');
  expect(secret.metadata?.labels).toEqual({
    [MANAGED_BY]: 'caronte',
    [SECRET_LABELS.provider]: 'aws-secretsmanager',
  });
  expect(secret.metadata?.annotations).toMatchObject({
    [SECRET_ANNOTATIONS.sourcePath]: c.path('db'),
    [SECRET_ANNOTATIONS.version]: version,
    [SECRET_ANNOTATIONS.dataHash]: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    [SECRET_ANNOTATIONS.syncedAt]: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/) as string,
  });
  const event = await c.untilEvent('web', 'SecretSyncSuccess');
  expect(event.note).toBe(`Secret db was created from aws-secretsmanager ${c.path('db')}`);
  expect(event.regarding).toMatchObject({ kind: 'Pod', name: 'web', namespace: c.namespace, uid: pod.metadata?.uid });
  await c.idle();
  expect(await c.events('web')).toEqual(['Normal SecretSyncSuccess']);
  expect(c.calls).toEqual([`GetSecretValue ${c.path('db')}`]);
  expect((await c.admin.get(Secret, { namespace: c.namespace, name: 'db' })).metadata?.ownerReferences).toBeUndefined();
});
