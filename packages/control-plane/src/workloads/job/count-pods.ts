import type { Job, Pod, UncountedTerminatedPods } from '@bowline/kubernetes';
import { isReady } from '../pods/pod-state.ts';
import { formatIndexes, parseIndexes } from './indexes.ts';
import { endedAtMs, indexOf, isIndexed, isTracked } from './job-pods.ts';

/** JobCounts holds the progress of a Job. Each finished Pod is counted once, even if it is deleted later. */
export interface JobCounts {
  readonly active: readonly Pod[];
  readonly ready: number;
  readonly terminating: number;
  readonly succeeded: number;
  readonly failed: number;
  /** The completed indexes; empty unless the Job is indexed. */
  readonly completedIndexes: ReadonlySet<number>;
  /** Pods that are added to the totals below as soon as their finalizer is removed. */
  readonly uncounted: UncountedTerminatedPods;
  /** Totals without the uncounted Pods. */
  readonly counted: { readonly succeeded: number; readonly failed: number };
  /** Pods whose finalizer may be removed once the status includes them. */
  readonly releasable: readonly Pod[];
  /** The number of failures since the last success, and the time of the last one. */
  readonly failures: { readonly inARow: number; readonly lastAtMs: number };
}

/** countPods counts a Job's Pods. Pods that the status has already counted stay counted, even if they are gone. */
export function countPods(job: Job, pods: readonly Pod[]): JobCounts {
  const { status, spec } = job;
  const indexed = isIndexed(job);
  const tracked = new Map(pods.filter(isTracked).map((pod) => [pod.metadata?.uid ?? '', pod]));
  const completed = new Set(parseIndexes(status?.completedIndexes));
  const counted = { succeeded: status?.succeeded ?? 0, failed: status?.failed ?? 0 };
  const uncounted = { succeeded: [] as string[], failed: [] as string[] };
  for (const outcome of ['succeeded', 'failed'] as const) {
    for (const uid of status?.uncountedTerminatedPods?.[outcome] ?? []) {
      if (tracked.has(uid)) uncounted[outcome].push(uid);
      else counted[outcome]++;
    }
  }
  const known = new Set([...uncounted.succeeded, ...uncounted.failed]);
  const active: Pod[] = [];
  const releasable: Pod[] = [];
  const ended: { readonly at: number; readonly isFailure: boolean }[] = [];
  let terminating = 0;
  for (const pod of pods) {
    const { uid = '', deletionTimestamp } = pod.metadata ?? {};
    const outcome = outcomeOf(pod, spec?.podReplacementPolicy === 'Failed');
    const isEnded = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
    if (!isEnded && deletionTimestamp !== undefined) terminating++;
    if (outcome === undefined) {
      if (deletionTimestamp === undefined) active.push(pod);
      continue;
    }
    ended.push({ at: endedAtMs(pod), isFailure: outcome === 'failed' });
    if (!isTracked(pod)) continue;
    releasable.push(pod);
    const index = indexed ? indexOf(job, pod) : undefined;
    if (indexed && outcome === 'succeeded') {
      if (index !== undefined) completed.add(index);
    } else if (!known.has(uid)) uncounted[outcome].push(uid);
  }
  if (indexed) counted.succeeded = completed.size;
  const lastSuccess = Math.max(0, ...ended.filter(({ isFailure }) => !isFailure).map(({ at }) => at));
  const failures = ended.filter(({ isFailure, at }) => isFailure && at >= lastSuccess);
  return {
    active,
    ready: active.filter(isReady).length,
    terminating,
    succeeded: counted.succeeded + uncounted.succeeded.length,
    failed: counted.failed + uncounted.failed.length,
    completedIndexes: completed,
    uncounted: {
      ...(uncounted.succeeded.length > 0 ? { succeeded: uncounted.succeeded } : {}),
      ...(uncounted.failed.length > 0 ? { failed: uncounted.failed } : {}),
    },
    counted,
    releasable,
    failures: { inARow: failures.length, lastAtMs: Math.max(0, ...failures.map(({ at }) => at)) },
  };
}

/** Returns the outcome of a Pod. One that is being deleted has failed, unless its replacement must wait for its end. */
function outcomeOf({ status, metadata }: Pod, waitsForEnd: boolean): 'succeeded' | 'failed' | undefined {
  if (status?.phase === 'Succeeded') return 'succeeded';
  if (status?.phase === 'Failed') return 'failed';
  return metadata?.deletionTimestamp !== undefined && !waitsForEnd ? 'failed' : undefined;
}

/** completedText formats the completed indexes for the status; undefined unless the Job is indexed. */
export function completedText(job: Job, { completedIndexes }: JobCounts): string | undefined {
  return isIndexed(job) ? formatIndexes(completedIndexes) : undefined;
}
