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

it('scenario 01 creates a Secret with all keys for a Pending pod, and reports it once', async () => {
  const version = await c.aws.put(c.path('db'), { username: 'admin', password: 'correct horse', port: 5432 });
  const pod = await c.createPod('web', c.fromAws('db'));
  const secret = await c.untilSecret('db');
  expect(valuesOf(secret)).toEqual({ username: 'admin', password: 'correct horse', port: '5432' });
  expect(secret.type).toBe('Opaque');
  expect(secret.metadata?.ownerReferences).toBeUndefined();
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
  const { regarding, note } = await c.untilEvent('web', 'SecretSyncSuccess');
  expect(note).toBe(`Secret db was created from aws-secretsmanager ${c.path('db')}`);
  expect(regarding).toMatchObject({ kind: 'Pod', namespace: c.namespace, name: 'web', uid: pod.metadata?.uid });
  await c.caughtUp();
  expect(await c.events('web')).toEqual(['Normal SecretSyncSuccess']);
  expect(c.callsFor('db')).toEqual(['GetSecretValue']);
});

it('scenario 02 writes a secret that is requested in two namespaces to both of them, and nowhere else', async () => {
  const other = await c.createNamespace('scenario-other');
  const bystander = await c.createNamespace('scenario-bystander');
  await c.aws.put(c.path('shared'), { password: 'x' });
  const ask = c.fromAws('shared');
  await Promise.all([c.createPod('web', ask, { namespace: other }), c.createPod('shared', ask)]);
  for (const namespace of [c.namespace, other]) {
    expect(valuesOf(await c.until(Secret, { namespace, name: 'shared' }, () => true))).toEqual({ password: 'x' });
  }
  await c.caughtUp();
  const { items } = await c.admin.list(Secret, { labelSelector: `${SECRET_LABELS.provider}=aws-secretsmanager` });
  const made = items.filter(({ metadata }) => metadata?.name === 'shared').map(({ metadata }) => metadata?.namespace);
  expect(made.filter((name) => [c.namespace, other, bystander, c.managerNamespace].includes(name ?? ''))).toEqual(
    [c.namespace, other].sort(),
  );
  // The answer does not depend on the requester.
  expect(c.callsFor('shared').filter((operation) => operation === 'GetSecretValue')).toHaveLength(1);
});
