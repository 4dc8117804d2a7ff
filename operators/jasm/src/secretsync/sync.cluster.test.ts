import { Pod, Secret } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { MANAGED_BY, SECRET_ANNOTATIONS, SECRET_LABELS } from '../api/names.ts';
import { entry, jasmCluster, valuesOf } from '../testing/jasm-cluster.test-support.ts';

it('writes the requested secret to a Secret, and reports it to the pod', async () => {
  await using c = await jasmCluster();
  c.store.addSecret('/prod/db', { user: 'admin', password: 'correct horse' });
  await c.createPod('web', entry('/prod/db', 'db'));
  const secret = await c.untilSecret('db');
  expect(valuesOf(secret)).toEqual({ user: 'admin', password: 'correct horse' });
  expect(secret).toMatchObject({
    type: 'Opaque',
    metadata: {
      labels: { [MANAGED_BY]: 'caronte', [SECRET_LABELS.provider]: 'mock' },
      annotations: {
        [SECRET_ANNOTATIONS.sourcePath]: '/prod/db',
        [SECRET_ANNOTATIONS.syncedAt]: expect.stringMatching(/^\d{4}-.*Z$/) as string,
        [SECRET_ANNOTATIONS.version]: expect.any(String) as string,
        [SECRET_ANNOTATIONS.dataHash]: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      },
    },
  });
  const { type, note } = await c.untilEvent('web', 'SecretSyncSuccess');
  expect([type, note]).toEqual(['Normal', 'Secret db was created from mock /prod/db']);
  expect(c.calls).toEqual(['fetchSecret /prod/db']);
});

it('follows the source when a new pod requests it, repairs the Secret, and recreates it', async () => {
  await using c = await jasmCluster();
  c.store.addSecret('/prod/db', { user: 'admin', password: 'old' });
  await c.createPod('web', entry('/prod/db', 'db'));
  const first = await c.untilSecret('db');
  c.store.addSecret('/prod/db', { password: 'new' });
  await c.createPod('web-2', entry('/prod/db', 'db'));
  const second = await c.untilSecret('db', (secret) => valuesOf(secret).password === 'new');
  expect(valuesOf(second)).toEqual({ password: 'new' });
  expect(second.metadata?.annotations?.[SECRET_ANNOTATIONS.version]).not.toBe(
    first.metadata?.annotations?.[SECRET_ANNOTATIONS.version],
  );

  await c.admin.patch(
    Secret,
    { namespace: c.namespace, name: 'db' },
    { type: 'merge', body: { data: { extra: 'eA==' } } },
  );
  await c.untilSecret('db', (secret) => {
    return secret.metadata?.resourceVersion !== second.metadata?.resourceVersion && secret.data?.extra === undefined;
  });
  await c.admin.delete(Secret, { namespace: c.namespace, name: 'db' });
  await c.untilSecret('db', ({ metadata }) => metadata?.uid !== second.metadata?.uid);
});

it('calls no store and writes nothing while nothing changes, and reads at most a version after a restart', async () => {
  await using c = await jasmCluster();
  c.store.addSecret('/prod/db', { password: 'x' });
  await c.createPod('web', entry('/prod/db', 'db'));
  const { metadata } = await c.untilSecret('db');
  await c.untilEvent('web', 'SecretSyncSuccess');
  await c.idle();
  const calls = c.calls.length;
  const requests = c.requests.length;
  await c.admin.patch(
    Pod,
    { namespace: c.namespace, name: 'web' },
    { type: 'merge', body: { status: { message: 'still waiting' } } },
    { subresource: 'status' },
  );
  await c.advanceTime(600_000, 60_000);
  expect(c.calls.slice(calls)).toEqual([]);
  expect(c.requests.slice(requests).filter((each) => !/ leases /.test(each) && !/^(?:list|watch) /.test(each))).toEqual(
    [],
  );

  await c.restart();
  await c.idle();
  expect(c.calls.slice(calls)).toEqual(['probeVersion /prod/db']);
  const writes = c.requests.slice(requests).filter((each) => /^(?:create|patch|update|delete) (?!leases)/.test(each));
  expect(writes).toEqual([]);
  expect((await c.untilSecret('db')).metadata?.resourceVersion).toBe(metadata?.resourceVersion);
});

it('does not change a Secret that is not ours until it is transferred', async () => {
  await using c = await jasmCluster();
  c.store.addSecret('/prod/db', { password: 'x' });
  const key = { namespace: c.namespace, name: 'db' };
  await c.admin.create(Secret, { metadata: key, data: { theirs: 'eA==' } });
  await c.createPod('web', entry('/prod/db', 'db'));
  const { type, note } = await c.untilEvent('web', 'SecretConflict');
  expect(type).toBe('Warning');
  expect(note).toContain(`${MANAGED_BY}=caronte`);
  expect(c.calls).toEqual([]);
  expect(valuesOf(await c.admin.get(Secret, key))).toEqual({ theirs: 'x' });
  await c.admin.patch(Secret, key, { type: 'merge', body: { metadata: { labels: { [MANAGED_BY]: 'caronte' } } } });
  const taken = await c.untilSecret('db', ({ data }) => data?.theirs === undefined);
  expect(valuesOf(taken)).toEqual({ password: 'x' });
});

it('merges keys into a Secret that allows it, and changes no other keys', async () => {
  await using c = await jasmCluster();
  c.store.addSecret('/prod/db', { password: 'x', user: 'admin' });
  const key = { namespace: c.namespace, name: 'shared' };
  await c.admin.create(Secret, { metadata: key, data: { theirs: 'eA==' } });
  await c.createPod('web', entry('/prod/db', 'shared', { creationPolicy: 'Merge' }));
  await c.untilEvent('web', 'SecretConflict');
  const allowed = { 'jasm.codnod.io/merge-allowed': 'true' };
  await c.admin.patch(Secret, key, { type: 'merge', body: { metadata: { annotations: allowed } } });
  const merged = await c.untilSecret('shared', ({ data }) => data?.password !== undefined);
  expect(valuesOf(merged)).toEqual({ theirs: 'x', password: 'x', user: 'admin' });
  expect(merged.metadata?.labels).toBeUndefined();
  expect(merged.metadata?.annotations?.[SECRET_ANNOTATIONS.managedKeys]).toBe('password,user');
  c.store.addSecret('/prod/db', { password: 'y' });
  await c.force('web', '1');
  const followed = await c.untilSecret('shared', (secret) => valuesOf(secret).password === 'y');
  expect(valuesOf(followed)).toEqual({ theirs: 'x', password: 'y' });
});

it('reports an invalid annotation, calls no store for it, and serves the pod after a correction', async () => {
  await using c = await jasmCluster();
  c.store.addSecret('/prod/db', { password: 'x' });
  await c.createPod('web', 'provider: mock\nsecretName: db');
  expect((await c.untilEvent('web', 'AnnotationInvalid')).note).toContain('path');
  await c.createPod('other', entry('/prod/db', 'other', { provider: 'gcp' }));
  expect((await c.untilEvent('other', 'ProviderUnsupported')).note).toContain('mock');
  expect(c.calls).toEqual([]);
  await c.changeRequest('web', entry('/prod/db', 'db'));
  await c.untilSecret('db');
});

it('reports a secret that does not exist, and retries later', async () => {
  await using c = await jasmCluster();
  await c.createPod('web', entry('/prod/db', 'db'));
  const { note } = await c.untilEvent('web', 'SecretFetchFailed');
  expect(note).toContain('/prod/db');
  await c.idle();
  const calls = c.calls.length;
  await c.advanceTime(50_000);
  expect(c.calls).toHaveLength(calls);
  c.store.addSecret('/prod/db', { password: 'x' });
  await c.advanceTime(15_000, 5_000);
  await c.untilSecret('db');
});
