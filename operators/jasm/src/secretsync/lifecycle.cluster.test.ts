import { Deployment, Namespace, Pod, Secret } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { NAMESPACE_ANNOTATIONS, POD_ANNOTATIONS, RESTARTED_FOR, SECRET_ANNOTATIONS } from '../api/names.ts';
import { entry, jasmCluster, podSpec, textOf, valuesOf } from '../testing/jasm-cluster.test-support.ts';

it('serves the first of two workloads that request different content, and the second when the first is deleted', async () => {
  await using c = await jasmCluster();
  c.store.addSecret('/a', { from: 'a' });
  c.store.addSecret('/b', { from: 'b' });
  await c.createPod('first', entry('/a', 'db'));
  await c.untilSecret('db');
  await c.createPod('second', entry('/b', 'db'));
  expect((await c.untilEvent('second', 'SecretConflict')).note).toContain('Pod/first');
  await c.createPod('third', entry('/a', 'db'));
  await c.untilEvent('third', 'SecretSyncSuccess');
  expect(valuesOf(await c.untilSecret('db'))).toEqual({ from: 'a' });
  for (const name of ['first', 'third']) await c.admin.delete(Pod, { namespace: c.namespace, name });
  expect(valuesOf(await c.untilSecret('db', (secret) => valuesOf(secret).from === 'b'))).toEqual({ from: 'b' });
  await c.untilEvent('second', 'SecretSyncSuccess');
});

it('deletes a Secret after its last pod if that is requested and allowed', async () => {
  await using c = await jasmCluster({ config: { allowAllPaths: true, allowDeletion: true } });
  c.store.addSecret('/a', { from: 'a' });
  await c.createPod('one', entry('/a', 'going', { deletionPolicy: 'Delete' }));
  await c.createPod('two', entry('/a', 'staying'));
  const { metadata } = await c.untilSecret('going');
  expect(metadata?.annotations?.[SECRET_ANNOTATIONS.deletionPolicy]).toBe('Delete');
  await c.untilSecret('staying');
  for (const name of ['one', 'two']) {
    await c.admin.delete(Pod, { namespace: c.namespace, name });
    await c.untilGone(Pod, { name });
  }
  await c.idle();
  await c.advanceTime(290_000, 145_000);
  expect((await c.untilSecret('going')).metadata?.deletionTimestamp).toBeUndefined();
  // The grace period starts again with a new process.
  await c.restart();
  await c.idle();
  await c.advanceTime(290_000, 145_000);
  await c.untilSecret('going');
  await c.advanceTime(20_000);
  await c.untilGone(Secret, { name: 'going' });
  await c.untilSecret('staying');
});

it('restarts a workload once for each replaced content', async () => {
  await using c = await jasmCluster({ config: { allowAllPaths: true, allowRestart: true } });
  c.store.addSecret('/a', { from: 'a' });
  const key = { namespace: c.namespace, name: 'web' };
  await c.admin.create(Deployment, {
    metadata: key,
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: {
          labels: { app: 'web' },
          annotations: { [POD_ANNOTATIONS.secretSync]: textOf(entry('/a', 'db', { restart: true })) },
        },
        spec: podSpec(),
      },
    },
  });
  const { metadata } = await c.untilSecret('db');
  expect(metadata?.annotations?.[SECRET_ANNOTATIONS.askedBy]).toBe('Deployment.apps/web');
  await c.idle();
  const marks = ({ spec }: Deployment): string | undefined =>
    spec?.template.metadata?.annotations?.[`${RESTARTED_FOR}db`];
  expect(marks(await c.admin.get(Deployment, key))).toBeUndefined();

  c.store.addSecret('/a', { from: 'b' });
  const [pod] = (await c.admin.list(Pod, { namespace: c.namespace })).items;
  await c.force(pod?.metadata?.name ?? '', '1');
  const restarted = await c.until(Deployment, key, (each) => marks(each) !== undefined);
  const dataHash = (await c.untilSecret('db')).metadata?.annotations?.[SECRET_ANNOTATIONS.dataHash] ?? '';
  expect(dataHash).not.toContain(marks(restarted));
  await c.untilList(Pod, { namespace: c.namespace }, (pods) =>
    pods.some((each) => each.metadata?.annotations?.[`${RESTARTED_FOR}db`] !== undefined),
  );
  await c.idle();
  await c.restart();
  await c.idle();
  const after = await c.admin.get(Deployment, key);
  expect(after.metadata?.generation).toBe(restarted.metadata?.generation);

  // A change that comes too soon after that waits, and only the last of several contents causes a restart.
  for (const from of ['c', 'd']) {
    c.store.addSecret('/a', { from });
    const pods = await c.admin.list(Pod, { namespace: c.namespace });
    await c.force(pods.items[0]?.metadata?.name ?? '', from);
    await c.untilSecret('db', (secret) => valuesOf(secret).from === from);
  }
  await c.idle();
  expect(marks(await c.admin.get(Deployment, key))).toBe(marks(restarted));
  await c.clock.advance(5 * 60_000);
  const again = await c.until(Deployment, key, (each) => marks(each) !== marks(restarted));
  await c.idle();
  expect(marks(await c.admin.get(Deployment, key))).toBe(marks(again));
});

it('stops reading a path that the namespace no longer permits, and keeps the Secret', async () => {
  await using c = await jasmCluster();
  c.store.addSecret('/a', { from: 'a' });
  await c.createPod('web', entry('/a', 'db'));
  await c.untilSecret('db');
  await c.untilEvent('web', 'SecretSyncSuccess');
  const permit = (globs: string | null): Promise<Namespace> =>
    c.admin.patch(
      Namespace,
      { name: c.namespace },
      { type: 'merge', body: { metadata: { annotations: { [NAMESPACE_ANNOTATIONS.permittedPaths]: globs } } } },
    );
  await permit('/b/**');
  await c.untilEvent('web', 'PathNotPermitted');
  c.store.addSecret('/a', { from: 'b' });
  const calls = c.calls.length;
  await c.createPod('other', entry('/a', 'db'));
  await c.untilEvent('other', 'PathNotPermitted');
  expect(c.calls).toHaveLength(calls);
  expect(valuesOf(await c.untilSecret('db'))).toEqual({ from: 'a' });
  await permit(null);
  await c.untilSecret('db', (secret) => valuesOf(secret).from === 'b');
});

it('does not change a paused Secret', async () => {
  await using c = await jasmCluster();
  c.store.addSecret('/a', { from: 'a' });
  await c.createPod('web', entry('/a', 'db'));
  const key = { namespace: c.namespace, name: 'db' };
  await c.untilSecret('db');
  const pause = (value: string | null): object => ({ metadata: { annotations: { 'bowline.dev/paused': value } } });
  await c.admin.patch(Secret, key, { type: 'merge', body: { ...pause('true'), data: { from: 'eA==' } } });
  await c.createPod('other', entry('/a', 'other'));
  await c.untilSecret('other');
  await c.idle();
  expect(valuesOf(await c.admin.get(Secret, key))).toEqual({ from: 'x' });
  await c.admin.patch(Secret, key, { type: 'merge', body: pause(null) });
  await c.untilSecret('db', (secret) => valuesOf(secret).from === 'a');
});

it('does not start without a policy, and reports the options', async () => {
  await expect(
    (async () => {
      await using c = await jasmCluster({ config: {}, signal: AbortSignal.timeout(3_000) });
      await c.stop();
    })(),
  ).rejects.toMatchObject({
    code: 'BOWLINE_CONFIG_INVALID',
    message: expect.stringContaining('--allow-all-paths') as string,
  });
});
