import type { Job, Pod } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import { NOW, READY } from '../pods/pod.test-support.ts';
import { countPods } from './count-pods.ts';
import { type JobSpec, jobWith, trackedPod } from './job.test-support.ts';
import { resultOf, retryInMs, wantedActive } from './result.ts';

describe('the result of a Job', () => {
  const counted = (spec: JobSpec, status: NonNullable<Job['status']>, pods: readonly Pod[] = []) => {
    const of = jobWith(spec, status);
    return resultOf(of, countPods(of, pods), NOW)?.reason;
  };

  it.each<[string, JobSpec, NonNullable<Job['status']>, string | undefined]>([
    ['is undecided while completions are missing', {}, { succeeded: 2 }, undefined],
    ['is success with the last completion', {}, { succeeded: 3 }, 'CompletionsReached'],
    ['is failure beyond the backoff limit', { backoffLimit: 1 }, { failed: 2 }, 'BackoffLimitExceeded'],
    ['is undecided at the backoff limit', { backoffLimit: 2 }, { failed: 2 }, undefined],
    ['is failure at the deadline', { activeDeadlineSeconds: 60 }, { startTime: READY }, 'DeadlineExceeded'],
    [
      'is undecided while the Job is suspended',
      { activeDeadlineSeconds: 60, suspend: true },
      { startTime: READY },
      undefined,
    ],
  ])('%s', (_, spec, status, expected) => {
    expect(counted(spec, status)).toBe(expected);
  });

  it('is success after one success without active Pods if completions is not set', () => {
    const { completions: _, ...open } = jobWith().spec ?? { template: {} };
    const queue: Job = { metadata: { name: 'work' }, spec: open, status: { succeeded: 1 } };
    expect(resultOf(queue, countPods(queue, []), NOW)?.isSuccess).toBe(true);
    expect(resultOf(queue, countPods(queue, [trackedPod('a', 'Running')]), NOW)).toBeUndefined();
  });

  it('counts container restarts against the backoff limit if the restart policy is OnFailure', () => {
    const template = { spec: { restartPolicy: 'OnFailure' as const, containers: [] } };
    expect(counted({ backoffLimit: 2, template }, {}, [trackedPod('a', 'Running', { restarts: 2 })])).toBe(
      'BackoffLimitExceeded',
    );
  });
});

it('doubles the delay after each failure in a row', () => {
  const failures = [
    trackedPod('a', 'Failed', { createdAt: '2026-01-01T00:59:30Z' }),
    trackedPod('b', 'Failed', { createdAt: '2026-01-01T00:59:55Z' }),
  ];
  expect(retryInMs(countPods(jobWith(), failures), NOW)).toBe(15_000);
  expect(retryInMs(countPods(jobWith(), []), NOW)).toBe(0);
});

it('runs no more Pods than are needed', () => {
  expect(wantedActive(jobWith(), countPods(jobWith({}, { succeeded: 2 }), []))).toBe(1);
  expect(wantedActive(jobWith({ suspend: true }), countPods(jobWith(), []))).toBe(0);
});
