import type { Job, JobCondition, JobStatus } from '@bowline/kubernetes';
import { formatTime } from '@bowline/machinery';
import { completedText, type JobCounts } from './count-pods.ts';
import type { JobVerdict } from './verdict.ts';

/**
 * jobStatus returns the status that a Job should have. A Job ends only when its last Pod has ended, and all are
 * counted.
 */
export function jobStatus(job: Job, counts: JobCounts, verdict: JobVerdict | undefined, now: number): JobStatus {
  const { spec, status } = job;
  const at = formatTime(now);
  const isOver = verdict !== undefined && isQuiet(counts);
  let conditions = status?.conditions ?? [];
  const say = (type: string, is: boolean, reason: string, message: string): void => {
    conditions = withCondition(conditions, { type, status: is ? 'True' : 'False', reason, message }, at);
  };
  if (verdict) {
    const { isSuccess, reason, message } = verdict;
    say(isSuccess ? 'SuccessCriteriaMet' : 'FailureTarget', true, reason, message);
    if (isOver) say(isSuccess ? 'Complete' : 'Failed', true, reason, message);
  }
  const wasSuspended = conditions.some(({ type, status: is }) => type === 'Suspended' && is === 'True');
  if (!verdict && spec?.suspend) say('Suspended', true, 'JobSuspended', 'Job suspended');
  else if (!verdict && wasSuspended) say('Suspended', false, 'JobResumed', 'Job resumed');
  // A Job that is resumed gets its whole deadline again.
  const isResumed = wasSuspended && !spec?.suspend && !verdict;
  const isStarted = status?.startTime !== undefined || !spec?.suspend;
  const startTime = isStarted ? (isResumed ? at : (status?.startTime ?? at)) : undefined;
  const completedIndexes = completedText(job, counts);
  return {
    startTime,
    ...(isOver && verdict.isSuccess ? { completionTime: status?.completionTime ?? at } : {}),
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

/** isQuiet reports whether no Pod of a Job runs, terminates or remains to be counted. */
export function isQuiet({ active, terminating, uncounted }: JobCounts): boolean {
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
