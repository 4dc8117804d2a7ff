import type { Job, JobCondition, Pod } from '@bowline/kubernetes';
import { parseTime } from '@bowline/machinery';
import type { JobCounts } from './count-pods.ts';

/** JobResult holds the result of a Job, as soon as it is certain. */
export interface JobResult {
  readonly isSuccess: boolean;
  readonly reason: string;
  readonly message: string;
}

const FIRST_BACKOFF_MS = 10_000;
const MAX_BACKOFF_MS = 600_000;

/** conditionOf returns a condition of a Job whose status is True. */
export function conditionOf(job: Job, type: string): JobCondition | undefined {
  return job.status?.conditions?.find((each) => each.type === type && each.status === 'True');
}

/** finishedAt returns when a Job completed or failed; undefined while it has not. */
export function finishedAt(job: Job): string | undefined {
  const end = conditionOf(job, 'Complete') ?? conditionOf(job, 'Failed');
  return end && (end.lastTransitionTime ?? '');
}

/** resultOf returns the result of a Job; undefined while it is undecided. */
export function resultOf(job: Job, counts: JobCounts, now: number): JobResult | undefined {
  const decided = conditionOf(job, 'SuccessCriteriaMet') ?? conditionOf(job, 'FailureTarget');
  if (decided) {
    const { type, reason = '', message = '' } = decided;
    return { isSuccess: type === 'SuccessCriteriaMet', reason, message };
  }
  const { spec } = job;
  const limit = spec?.backoffLimit ?? 6;
  if (counts.failed > limit || restartsExceed(spec?.template.spec?.restartPolicy, counts.active, limit)) {
    return failure('BackoffLimitExceeded', 'Job has reached the specified backoff limit');
  }
  const deadlineMs = deadlineInMs(job, now);
  if (deadlineMs !== undefined && deadlineMs <= 0) {
    return failure('DeadlineExceeded', 'Job was active longer than specified deadline');
  }
  const isDone =
    spec?.completions === undefined
      ? counts.succeeded > 0 && counts.active.length === 0
      : counts.succeeded >= spec.completions;
  if (!isDone || spec?.suspend) return undefined;
  const message = 'Reached expected number of succeeded pods';
  return { isSuccess: true, reason: 'CompletionsReached', message };
}

/** deadlineInMs returns how long a Job may still run; undefined without a deadline. */
export function deadlineInMs({ spec, status }: Job, now: number): number | undefined {
  if (spec?.activeDeadlineSeconds === undefined || status?.startTime === undefined || spec.suspend) return undefined;
  return parseTime(status.startTime) + spec.activeDeadlineSeconds * 1_000 - now;
}

/** retryInMs returns how long no Pod is started after failures: ten seconds, doubled with each failure. */
export function retryInMs({ failures }: JobCounts, now: number): number {
  if (failures.inARow === 0) return 0;
  const delay = Math.min(FIRST_BACKOFF_MS * 2 ** (failures.inARow - 1), MAX_BACKOFF_MS);
  return Math.max(0, failures.lastAtMs + delay - now);
}

/** wantedActive returns how many Pods of a Job should run now. */
export function wantedActive({ spec }: Job, counts: JobCounts): number {
  if (spec?.suspend) return 0;
  const parallelism = spec?.parallelism ?? 1;
  if (spec?.completions !== undefined) return Math.max(0, Math.min(parallelism, spec.completions - counts.succeeded));
  // One success means that the work is done: running Pods may finish, and none is started.
  return counts.succeeded > 0 ? Math.min(parallelism, counts.active.length) : parallelism;
}

function restartsExceed(policy: string | undefined, pods: readonly Pod[], limit: number): boolean {
  if (policy !== 'OnFailure') return false;
  const restarts = pods.reduce((total, { status }) => {
    const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
    return total + containers.reduce((sum, { restartCount }) => sum + restartCount, 0);
  }, 0);
  return limit === 0 ? restarts > 0 : restarts >= limit;
}

function failure(reason: string, message: string): JobResult {
  return { isSuccess: false, reason, message };
}
