import type { Job, JobCondition, JobStatus } from '@bowline/kubernetes';
import { formatTime } from '@bowline/machinery';
import { completedText, type JobCounts } from './count-pods.ts';
import type { JobResult } from './result.ts';

/**
 * jobStatus returns the status that a Job should have. A Job ends only when its last Pod has ended, and all are
 * counted.
 */
export function jobStatus(job: Job, counts: JobCounts, result: JobResult | undefined, now: number): JobStatus {
  const { spec, status } = job;
  const at = formatTime(now);
  const isFinished = result !== undefined && isSettled(counts);
  let conditions = status?.conditions ?? [];
  const set = (type: string, is: boolean, reason: string, message: string): void => {
    conditions = withCondition(conditions, { type, status: is ? 'True' : 'False', reason, message }, at);
  };
  if (result) {
    const { isSuccess, reason, message } = result;
    set(isSuccess ? 'SuccessCriteriaMet' : 'FailureTarget', true, reason, message);
    if (isFinished) set(isSuccess ? 'Complete' : 'Failed', true, reason, message);
  }
  const wasSuspended = conditions.some(({ type, status: is }) => type === 'Suspended' && is === 'True');
  if (!result && spec?.suspend) set('Suspended', true, 'JobSuspended', 'Job suspended');
  else if (!result && wasSuspended) set('Suspended', false, 'JobResumed', 'Job resumed');
  // A Job that is resumed gets its whole deadline again.
  const isResumed = wasSuspended && !spec?.suspend && !result;
  const isStarted = status?.startTime !== undefined || !spec?.suspend;
  const startTime = isStarted ? (isResumed ? at : (status?.startTime ?? at)) : undefined;
  const completedIndexes = completedText(job, counts);
  return {
    startTime,
    ...(isFinished && result.isSuccess ? { completionTime: status?.completionTime ?? at } : {}),
    active: counts.active.length,
    ready: counts.ready,
    terminating: counts.terminating,
    succeeded: counts.counted.succeeded,
    failed: counts.counted.failed,
    ...(completedIndexes ? { completedIndexes } : {}),
    uncountedTerminatedPods: counts.uncounted,
    ...(conditions.length > 0 ? { conditions } : {}),
  };
}

/** isSettled reports whether no Pod of a Job runs, terminates or remains to be counted. */
function isSettled({ active, terminating, uncounted }: JobCounts): boolean {
  return active.length === 0 && terminating === 0 && !uncounted.succeeded?.length && !uncounted.failed?.length;
}

function withCondition(
  conditions: readonly JobCondition[],
  wanted: Pick<JobCondition, 'type' | 'status' | 'reason' | 'message'>,
  at: string,
): readonly JobCondition[] {
  const before = conditions.find(({ type }) => type === wanted.type);
  if (before?.status === wanted.status) return conditions;
  const after = { ...wanted, lastProbeTime: at, lastTransitionTime: at };
  return [...conditions.filter(({ type }) => type !== wanted.type), after];
}
