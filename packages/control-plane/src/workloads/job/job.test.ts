import type { Job, Pod } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import { NOW, type PodTraits, podWith, READY } from '../pods/pod.test-support.ts';
import { countPods } from './count-pods.ts';
import { formatIndexes, parseIndexes } from './indexes.ts';
import { INDEX, TRACKING } from './job-pods.ts';
import { retryInMs, verdictOn, wantedActive } from './verdict.ts';

type Spec = Partial<NonNullable<Job['spec']>>;

const job = (spec: Spec = {}, status: NonNullable<Job['status']> = {}): Job => ({
  metadata: { name: 'work' },
  spec: { template: {}, completions: 3, parallelism: 2, ...spec },
  status,
});
const tracked = (name: string, phase: PodTraits['phase'], more: Partial<PodTraits> = {}): Pod =>
  podWith({ name, phase: phase ?? 'Running', finalizers: [TRACKING], ...more });

describe('counting', () => {
  it('counts a Pod that ended once, from its first sight until after it is gone', () => {
    const seen = countPods(job(), [tracked('a', 'Succeeded'), tracked('b', 'Failed'), tracked('c', 'Running')]);
    expect(seen).toMatchObject({ succeeded: 1, failed: 1, counted: { succeeded: 0, failed: 0 } });
    expect(seen.releasable.map(({ metadata }) => metadata?.name)).toEqual(['a', 'b']);
    const noted = job({}, { uncountedTerminatedPods: seen.uncounted });
    expect(countPods(noted, [tracked('a', 'Succeeded'), tracked('b', 'Failed')])).toMatchObject({
      succeeded: 1,
      failed: 1,
    });
    const released = countPods(noted, [podWith({ name: 'a', phase: 'Succeeded' })]);
    expect(released).toMatchObject({ counted: { succeeded: 1, failed: 1 }, uncounted: {}, releasable: [] });
  });

  it('takes a Pod that is being deleted for a failure, unless its replacement must wait for its end', () => {
    const going = [tracked('a', 'Running', { isGoing: true })];
    expect(countPods(job(), going)).toMatchObject({ failed: 1, terminating: 1, active: [] });
    expect(countPods(job({ podReplacementPolicy: 'Failed' }), going)).toMatchObject({ failed: 0, terminating: 1 });
  });

  it('counts the parts of an indexed Job, each once', () => {
    const part = (name: string, index: string): Pod => tracked(name, 'Succeeded', { annotations: { [INDEX]: index } });
    const counts = countPods(job({ completionMode: 'Indexed' }, { completedIndexes: '0' }), [
      part('a', '0'),
      part('b', '2'),
    ]);
    expect([...counts.completedIndexes]).toEqual([0, 2]);
    expect(counts).toMatchObject({ succeeded: 2, uncounted: {} });
  });
});

it.each<[string, string]>([
  ['', ''],
  ['1', '1'],
  ['0,1', '0,1'],
  ['0,2,3,4,7', '0,2-4,7'],
])('writes the indexes %s as %s', (list, text) => {
  const indexes = new Set(list === '' ? [] : list.split(',').map(Number));
  expect(formatIndexes(indexes)).toBe(text);
  expect([...parseIndexes(text)]).toEqual([...indexes]);
});

describe('the end of a Job', () => {
  const counted = (spec: Spec, status: NonNullable<Job['status']>, pods: readonly Pod[] = []) => {
    const of = job(spec, status);
    return verdictOn(of, countPods(of, pods), NOW)?.reason;
  };

  it.each<[string, Spec, NonNullable<Job['status']>, string | undefined]>([
    ['is open while completions are missing', {}, { succeeded: 2 }, undefined],
    ['comes with the last completion', {}, { succeeded: 3 }, 'CompletionsReached'],
    ['comes with one failure too many', { backoffLimit: 1 }, { failed: 2 }, 'BackoffLimitExceeded'],
    ['does not come with the last failure allowed', { backoffLimit: 2 }, { failed: 2 }, undefined],
    ['comes with the deadline', { activeDeadlineSeconds: 60 }, { startTime: READY }, 'DeadlineExceeded'],
    [
      'does not come while it is suspended',
      { activeDeadlineSeconds: 60, suspend: true },
      { startTime: READY },
      undefined,
    ],
  ])('%s', (_, spec, status, expected) => {
    expect(counted(spec, status)).toBe(expected);
  });

  it('comes with one success and nothing running where no number is asked for', () => {
    const { completions: _, ...open } = job().spec ?? { template: {} };
    const queue: Job = { metadata: { name: 'work' }, spec: open, status: { succeeded: 1 } };
    expect(verdictOn(queue, countPods(queue, []), NOW)?.isSuccess).toBe(true);
    expect(verdictOn(queue, countPods(queue, [tracked('a', 'Running')]), NOW)).toBeUndefined();
  });

  it('counts restarts against the limit where Pods restart by themselves', () => {
    const template = { spec: { restartPolicy: 'OnFailure' as const, containers: [] } };
    expect(counted({ backoffLimit: 2, template }, {}, [tracked('a', 'Running', { restarts: 2 })])).toBe(
      'BackoffLimitExceeded',
    );
  });
});

it('pauses after failures, twice as long each time', () => {
  const failures = [
    tracked('a', 'Failed', { createdAt: '2026-01-01T00:59:30Z' }),
    tracked('b', 'Failed', { createdAt: '2026-01-01T00:59:55Z' }),
  ];
  expect(retryInMs(countPods(job(), failures), NOW)).toBe(15_000);
  expect(retryInMs(countPods(job(), []), NOW)).toBe(0);
});

it('runs no more Pods than are needed', () => {
  expect(wantedActive(job(), countPods(job({}, { succeeded: 2 }), []))).toBe(1);
  expect(wantedActive(job({ suspend: true }), countPods(job(), []))).toBe(0);
});
