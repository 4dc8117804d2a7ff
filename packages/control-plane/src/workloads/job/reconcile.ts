import { Job, keyOf, keyString, Pod, parseKey } from '@bowline/kubernetes';
import { parseTime } from '@bowline/machinery';
import { keyed, type ReconcileResult } from '@bowline/runtime';
import { isNotFound } from '@bowline/runtime/client';
import type { LiveClient } from '@bowline/runtime/controller';
import { claim, claimableBy, claimantsOf, claimIndex } from '../pods/claim.ts';
import { inDeletionOrder } from '../pods/deletion-order.ts';
import {
  BURST_REPLICAS,
  captureError,
  createPod,
  deletePod,
  inSlowStartBatches,
  type PodOwner,
} from '../pods/pod-control.ts';
import { controllerOf } from '../pods/pod-state.ts';
import { reportStatus } from '../pods/report-status.ts';
import type { WorkloadDeps } from '../pods/workload-events.ts';
import { countPods, type JobCounts } from './count-pods.ts';
import { indexOf, isIndexed, isTracked, jobPod, TRACKING_FINALIZER } from './job-pods.ts';
import { conditionOf, deadlineInMs, finishedAt, type JobResult, resultOf, retryInMs, wantedActive } from './result.ts';
import { jobStatus } from './status.ts';

/** The prefix of the keys of tracked Pods, which may have lost their Job; keys of Jobs contain no colon. */
const TRACKED_POD = 'pod:';

// Keyed, because the Pods of a Job that is being deleted are still counted and released, and so are Pods without a Job.
const sources = keyed('jobs', { concurrency: 8 })
  .using<WorkloadDeps>()
  .watches(Job, { map: (job) => [keyString(keyOf(job))] })
  .watches(Pod, {
    indexes: { owner: claimIndex },
    map: (pod, cache) => {
      const claimants = claimantsOf(pod, Job.kind, () => cache.list(Job, { namespace: pod.metadata?.namespace }));
      return isTracked(pod) ? [...claimants, `${TRACKED_POD}${keyString(keyOf(pod))}`] : claimants;
    },
  });

type Context = Parameters<Parameters<(typeof sources)['reconcile']>[0]>[0];

/** jobs runs Pods until as many have succeeded as a Job requests, or too many have failed. */
export const jobs = sources.reconcile(reconcile);

async function reconcile(context: Context): Promise<ReconcileResult> {
  const { key, get, list, live, clock } = context;
  if (key.startsWith(TRACKED_POD)) {
    await releaseOrphan(context, key.slice(TRACKED_POD.length));
    return undefined;
  }
  const job = get(Job, parseKey(key));
  if (!job || job.spec?.managedBy) return undefined;
  const candidates = claimableBy(job).flatMap((owner) => list(Pod, { by: { owner } }));
  const pods = await claim(live, { resource: Job, object: job }, Pod, candidates);
  if (finishedAt(job) === undefined) return run(context, job, pods);
  for (const pod of pods.filter(isTracked)) await release(live, pod);
  return expire(live, job, clock.now());
}

/** run starts and stops the Pods of an unfinished Job, and counts those that have ended. */
async function run(context: Context, job: Job, pods: readonly Pod[]): Promise<ReconcileResult> {
  const { clock, deps } = context;
  const owner: PodOwner = { controller: 'job-controller', resource: Job, object: job, events: deps.events };
  const counts = countPods(job, pods);
  const result = resultOf(job, counts, clock.now());
  let retryMs: number | undefined;
  const failure = await captureError(async () => {
    if (job.metadata?.deletionTimestamp !== undefined) return;
    retryMs = await adjustPods(context, owner, job, { counts, result });
  });
  const current = await count(context, job, result);
  recordEvents(owner, job, current, result);
  if (failure) throw failure;
  const now = clock.now();
  const waits = [retryMs, deadlineInMs(current, now), ttlInMs(current, now)].filter((wait) => wait !== undefined);
  return waits.length === 0 ? undefined : { requeueAfterMs: Math.max(0, Math.min(...waits)) };
}

/** adjustPods creates and deletes Pods, and returns the delay after which it must be called again. */
async function adjustPods(
  { live, clock }: Context,
  owner: PodOwner,
  job: Job,
  { counts, result }: { readonly counts: JobCounts; readonly result: JobResult | undefined },
): Promise<number | undefined> {
  const { active } = counts;
  const now = clock.now();
  const wanted = result ? 0 : wantedActive(job, counts);
  if (active.length > wanted) {
    const surplus = inDeletionOrder(active, active, now).slice(0, active.length - wanted);
    await Promise.all(surplus.slice(0, BURST_REPLICAS).map((pod) => deletePod(live, owner, pod)));
    return undefined;
  }
  const terminating = job.spec?.podReplacementPolicy === 'Failed' ? counts.terminating : 0;
  const missing = Math.min(wanted - active.length - terminating, BURST_REPLICAS);
  if (missing <= 0) return undefined;
  const retryMs = retryInMs(counts, now);
  if (retryMs > 0) return retryMs;
  const indexes = isIndexed(job) ? missingIndexes(job, counts) : undefined;
  await inSlowStartBatches(indexes ? Math.min(missing, indexes.length) : missing, (at) =>
    createPod(live, owner, jobPod(job, indexes?.[at])),
  );
  return undefined;
}

function missingIndexes(job: Job, { active, completedIndexes }: JobCounts): readonly number[] {
  const taken = new Set([...completedIndexes, ...active.map((pod) => indexOf(job, pod))]);
  return Array.from({ length: job.spec?.completions ?? 0 }, (_, index) => index).filter((index) => !taken.has(index));
}

/**
 * count writes the status and returns the Job with it. The status must include a finished Pod before its finalizer is
 * removed, or it might be counted twice, or never.
 */
async function count({ key, get, list, live, clock }: Context, job: Job, result: JobResult | undefined): Promise<Job> {
  const pods = (): readonly Pod[] => list(Pod, { by: { owner: job.metadata?.uid ?? '' } });
  const counts = countPods(get(Job, parseKey(key)) ?? job, pods());
  const counted = await reportStatus(live, Job, job, jobStatus(job, counts, result, clock.now()));
  for (const pod of counts.releasable) await release(live, pod);
  if (counts.releasable.length === 0) return counted;
  const status = jobStatus(counted, countPods(counted, pods()), result, clock.now());
  return reportStatus(live, Job, counted, status);
}

function recordEvents({ events, controller }: PodOwner, before: Job, after: Job, result: JobResult | undefined): void {
  const record = (type: 'Normal' | 'Warning', reason: string, note: string): void =>
    events.record(controller, Job, after, { type, reason, note });
  if (result && finishedAt(after) !== undefined) {
    if (result.isSuccess) record('Normal', 'Completed', 'Job completed');
    else record('Warning', result.reason, result.message);
  }
  const [wasSuspended, isSuspended] = [before, after].map((job) => conditionOf(job, 'Suspended') !== undefined);
  if (!wasSuspended && isSuspended) record('Normal', 'Suspended', 'Job suspended');
  if (wasSuspended && !isSuspended) record('Normal', 'Resumed', 'Job resumed');
}

/** expire deletes a finished Job whose time to live is over. */
async function expire(live: LiveClient, job: Job, now: number): Promise<ReconcileResult> {
  const left = ttlInMs(job, now);
  if (left === undefined || job.metadata?.deletionTimestamp !== undefined) return undefined;
  if (left > 0) return { requeueAfterMs: left };
  const preconditions = { uid: job.metadata?.uid ?? '' };
  await live.delete(Job, keyOf(job), { propagationPolicy: 'Foreground', preconditions }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
  return undefined;
}

function ttlInMs(job: Job, now: number): number | undefined {
  const ended = finishedAt(job);
  const seconds = job.spec?.ttlSecondsAfterFinished;
  return ended === undefined || seconds === undefined ? undefined : parseTime(ended) + seconds * 1_000 - now;
}

/** releaseOrphan releases a Pod if the Job that should count it is gone, or no longer controls it. */
async function releaseOrphan({ get, live }: Context, key: string): Promise<void> {
  const pod = get(Pod, parseKey(key));
  if (!pod || !isTracked(pod)) return;
  const controller = controllerOf(pod);
  const job =
    controller?.kind === Job.kind ? get(Job, { namespace: pod.metadata.namespace, name: controller.name }) : undefined;
  if (!job || job.metadata.uid !== controller?.uid) await release(live, pod);
}

/** release removes the finalizer that keeps a Pod until its Job has counted it. */
async function release(live: LiveClient, pod: Pod): Promise<void> {
  const { resourceVersion, finalizers = [] } = pod.metadata ?? {};
  const body = { metadata: { resourceVersion, finalizers: finalizers.filter((each) => each !== TRACKING_FINALIZER) } };
  await live.patch(Pod, keyOf(pod), { type: 'merge', body }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}
