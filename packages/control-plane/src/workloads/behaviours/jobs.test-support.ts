import { Job, keyOf, Pod } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import type { Cluster } from '../../testing/cluster.ts';
import { container, type OpenCluster } from './behaviour.test-support.ts';

/** jobs tests the expected behaviour of Jobs. */
export function jobs(open: OpenCluster): void {
  it.concurrent('runs a Job until enough of its Pods have succeeded', async () => {
    await using c = await open();
    const key = await create(c, { completions: 3, parallelism: 2 });
    const done = await c.until(Job, key, ended('Complete'));
    expect(done.status).toMatchObject({ succeeded: 3, uncountedTerminatedPods: {} });
    expect(done.status?.failed ?? 0).toBe(0);
    expect(done.status?.conditions?.map(({ type, reason }) => [type, reason])).toEqual([
      ['SuccessCriteriaMet', 'CompletionsReached'],
      ['Complete', 'CompletionsReached'],
    ]);
    expect(done.status?.completionTime).toBeDefined();
    const pods = await c.untilList(Pod, {}, (items) => items.every(({ metadata }) => !metadata?.finalizers?.length));
    expect(pods).toHaveLength(3);
  });

  it.concurrent('gives every Pod of an indexed Job its own completion index', async () => {
    await using c = await open();
    const key = await create(c, { completions: 3, parallelism: 3, completionMode: 'Indexed' });
    const done = await c.until(Job, key, ended('Complete'));
    expect(done.status).toMatchObject({ succeeded: 3, completedIndexes: '0-2' });
    const { items } = await c.admin.list(Pod, { namespace: c.namespace });
    const parts = items.map(({ metadata, spec }) => [
      metadata?.annotations?.['batch.kubernetes.io/job-completion-index'],
      spec?.hostname,
      spec?.containers[0]?.env?.[0]?.name,
    ]);
    expect(parts.toSorted()).toEqual(['0', '1', '2'].map((index) => [index, `work-${index}`, 'JOB_COMPLETION_INDEX']));
  });

  it.concurrent('fails a Job whose Pods fail more often than its backoff limit', async () => {
    await using c = await open();
    await using _ = await c.nodeAgent.pods.fail();
    const key = await create(c, { backoffLimit: 0 });
    const failed = await c.until(Job, key, ended('Failed'));
    expect(failed.status).toMatchObject({ failed: 1 });
    expect(failed.status?.conditions?.map(({ type, reason }) => [type, reason])).toEqual([
      ['FailureTarget', 'BackoffLimitExceeded'],
      ['Failed', 'BackoffLimitExceeded'],
    ]);
  });

  it.concurrent('fails a Job at its deadline, and deletes a finished one after its time to live', async () => {
    await using c = await open();
    await using _ = await c.nodeAgent.pods.run();
    const key = await create(c, { activeDeadlineSeconds: 1, ttlSecondsAfterFinished: 0 });
    const reasons: string[] = [];
    await c.untilList(Job, {}, (items) => {
      for (const job of items)
        reasons.push(job.status?.conditions?.find(({ type }) => type === 'Failed')?.reason ?? '');
      return items.length === 0;
    });
    expect(reasons).toContain('DeadlineExceeded');
    await c.untilList(Pod, {}, (pods) => pods.length === 0);
    await c.untilGone(Job, key);
  });

  it.concurrent('deletes the Pods of a suspended Job, and creates others when it is resumed', async () => {
    await using c = await open();
    const hold = await c.nodeAgent.pods.run();
    const key = await create(c, {});
    await c.until(Job, key, ({ status }) => status?.ready === 1);
    await c.admin.patch(Job, key, { type: 'merge', body: { spec: { suspend: true } } });
    await c.until(Job, key, ({ status }) => {
      return status?.conditions?.some(({ type, status: is }) => type === 'Suspended' && is === 'True') ?? false;
    });
    await c.untilList(Pod, {}, (pods) => pods.length === 0);
    await hold.release();
    await c.admin.patch(Job, key, { type: 'merge', body: { spec: { suspend: false } } });
    await c.until(Job, key, ended('Complete'));
  });
}

async function create(c: Cluster, spec: Partial<NonNullable<Job['spec']>>): Promise<ReturnType<typeof keyOf>> {
  const metadata = { name: 'work', namespace: c.namespace };
  const template = { spec: { restartPolicy: 'Never' as const, containers: [container] } };
  return keyOf(await c.admin.create(Job, { metadata, spec: { template, ...spec } }));
}

function ended(how: 'Complete' | 'Failed') {
  return ({ status }: Job): boolean =>
    status?.conditions?.some(({ type, status: is }) => type === how && is === 'True') ?? false;
}
