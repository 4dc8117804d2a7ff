import { Job, keyOf, keyString, Pod, parseKey } from '@bowline/kubernetes';
import { parseTime } from '@bowline/machinery';
import { keyed } from '@bowline/runtime';
import { isNotFound } from '@bowline/runtime/client';
import type { Controller, LiveClient } from '@bowline/runtime/controller';
import { claim } from '../pods/claim.ts';
import { claimantsOf, claimIndex, orphansOf } from '../pods/claim-index.ts';
import { createPod, deletePod, failureOf, inGrowingBatches, MOST_AT_ONCE, type PodOwner } from '../pods/pod-control.ts';
import { controllerOf } from '../pods/pod-state.ts';
import { reportStatus } from '../pods/report-status.ts';
import type { WorkloadDeps } from '../pods/workload-events.ts';
import { inDeletionOrder } from '../replica-set/deletion-order.ts';
import { countPods, type JobCounts } from './count-pods.ts';
import { indexOf, isIndexed, isTracked, jobPod, TRACKING } from './job-pods.ts';
import { jobStatus } from './status.ts';
import {
  conditionOf,
  deadlineInMs,
  finishedAt,
  type JobVerdict,
  retryInMs,
  verdictOn,
  wantedActive,
} from './verdict.ts';

/** The prefix of the keys of Pods that no Job counts; keys of Jobs contain no colon. */
const LOST = 'pod:';

/** jobs runs Pods until as many have succeeded as a Job requests, or too many have failed. */
export function jobs(): Controller<WorkloadDeps> {
  return keyed('jobs', { concurrency: 8 })
    .using<WorkloadDeps>()
    .watches(Job, { map: (job) => [keyString(keyOf(job))] })
    .watches(Pod, {
      indexes: { owner: claimIndex },
      map: (pod, cache) => {
        const key = keyString(keyOf(pod));
        const jobsInNamespace = (): readonly Job[] => cache.list(Job, { namespace: pod.metadata?.namespace });
        const claimants = claimantsOf(pod, 'Job', jobsInNamespace, ({ spec }) => spec?.selector);
        return isTracked(pod) ? [...claimants, `${LOST}${key}`] : claimants;
      },
    })
    .reconcile(async ({ key, get, list, live, clock, deps: { events } }) => {
      if (key.startsWith(LOST)) {
        const pod = get(Pod, parseKey(key.slice(LOST.length)));
        if (pod && isTracked(pod) && isLost(pod, (name) => get(Job, name))) await release(live, pod);
        return;
      }
      const job = get(Job, parseKey(key));
      if (!job || job.spec?.managedBy) return;
      const { namespace, uid = '', deletionTimestamp } = job.metadata ?? {};
      const candidates = [...list(Pod, { by: { owner: uid } }), ...list(Pod, { by: { owner: orphansOf(namespace) } })];
      const claimant = { resource: Job, object: job, selector: job.spec?.selector };
      const pods = await claim(live, claimant, Pod, candidates);
      const ended = finishedAt(job);
      if (ended !== undefined) {
        for (const pod of pods.filter(isTracked)) await release(live, pod);
        return expire(live, job, clock.now());
      }

      const owner: PodOwner = { controller: 'job-controller', resource: Job, object: job, events };
      let counts = countPods(job, pods);
      const verdict = verdictOn(job, counts, clock.now());
      let wait: number | undefined;
      const failure = await failureOf(async () => {
        if (deletionTimestamp === undefined) wait = await adjust(live, owner, job, counts, verdict, clock.now());
      });
      const count = (): JobCounts => countPods(get(Job, parseKey(key)) ?? job, list(Pod, { by: { owner: uid } }));
      counts = count();
      // The status must include a finished Pod before its finalizer is removed, or it might be counted twice, or never.
      let current = await reportStatus(live, Job, job, jobStatus(job, counts, verdict, clock.now()));
      for (const pod of counts.releasable) await release(live, pod);
      if (counts.releasable.length > 0) {
        counts = countPods(current, list(Pod, { by: { owner: uid } }));
        current = await reportStatus(live, Job, current, jobStatus(current, counts, verdict, clock.now()));
      }
      tell(owner, job, current, verdict);
      if (failure) throw failure;
      const waits = [wait, deadlineInMs(current, clock.now()), ttlInMs(current, clock.now())];
      const soonest = Math.min(...waits.filter((each) => each !== undefined).map((each) => Math.max(each, 0)));
      return { requeueAfterMs: Number.isFinite(soonest) ? soonest : undefined };
    });
}

/** adjust creates and deletes Pods, and returns the delay after which it must be called again. */
async function adjust(
  live: LiveClient,
  owner: PodOwner,
  job: Job,
  counts: JobCounts,
  verdict: JobVerdict | undefined,
  now: number,
): Promise<number | undefined> {
  const { active } = counts;
  const wanted = verdict ? 0 : wantedActive(job, counts);
  if (active.length > wanted) {
    const surplus = inDeletionOrder(active, active, now).slice(0, active.length - wanted);
    await Promise.all(surplus.slice(0, MOST_AT_ONCE).map((pod) => deletePod(live, owner, pod)));
    return undefined;
  }
  const leaving = job.spec?.podReplacementPolicy === 'Failed' ? counts.terminating : 0;
  const missing = Math.min(wanted - active.length - leaving, MOST_AT_ONCE);
  if (missing <= 0) return undefined;
  const pause = retryInMs(counts, now);
  if (pause > 0) return pause;
  const indexes = isIndexed(job) ? missingIndexes(job, counts) : undefined;
  await inGrowingBatches(indexes ? Math.min(missing, indexes.length) : missing, (at) =>
    createPod(live, owner, jobPod(job, indexes?.[at])),
  );
  return undefined;
}

function missingIndexes(job: Job, { active, completedIndexes }: JobCounts): readonly number[] {
  const taken = new Set([...completedIndexes, ...active.map((pod) => indexOf(job, pod))]);
  return Array.from({ length: job.spec?.completions ?? 0 }, (_, index) => index).filter((index) => !taken.has(index));
}

/** isLost reports whether the Job that should count a Pod is gone, or no longer controls it. */
function isLost(pod: Pod, find: (key: { namespace?: string | undefined; name: string }) => Job | undefined): boolean {
  const controller = controllerOf(pod);
  if (controller?.kind !== 'Job') return true;
  const job = find({ namespace: pod.metadata?.namespace, name: controller.name });
  return job?.metadata?.uid !== controller.uid;
}

async function release(live: LiveClient, pod: Pod): Promise<void> {
  const { resourceVersion, finalizers = [] } = pod.metadata ?? {};
  const body = { metadata: { resourceVersion, finalizers: finalizers.filter((each) => each !== TRACKING) } };
  await live.patch(Pod, keyOf(pod), { type: 'merge', body }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

function ttlInMs(job: Job, now: number): number | undefined {
  const ended = finishedAt(job);
  const seconds = job.spec?.ttlSecondsAfterFinished;
  return ended === undefined || seconds === undefined ? undefined : parseTime(ended) + seconds * 1_000 - now;
}

/** expire deletes a finished Job whose time to live is over. */
async function expire(live: LiveClient, job: Job, now: number): Promise<{ requeueAfterMs: number } | undefined> {
  const left = ttlInMs(job, now);
  if (left === undefined || job.metadata?.deletionTimestamp !== undefined) return undefined;
  if (left > 0) return { requeueAfterMs: left };
  const preconditions = { uid: job.metadata?.uid ?? '' };
  await live.delete(Job, keyOf(job), { propagationPolicy: 'Foreground', preconditions }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
  return undefined;
}

function tell({ events, controller }: PodOwner, before: Job, after: Job, verdict: JobVerdict | undefined): void {
  const record = (type: 'Normal' | 'Warning', reason: string, note: string): void =>
    events.record(controller, Job, after, { type, reason, note });
  if (verdict && finishedAt(after) !== undefined) {
    if (verdict.isSuccess) record('Normal', 'Completed', 'Job completed');
    else record('Warning', verdict.reason, verdict.message);
  }
  const [was, is] = [before, after].map((job) => conditionOf(job, 'Suspended') !== undefined);
  if (!was && is) record('Normal', 'Suspended', 'Job suspended');
  if (was && !is) record('Normal', 'Resumed', 'Job resumed');
}
