import type { Pod } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import { podWith } from '../pods/pod.test-support.ts';
import { countPods } from './count-pods.ts';
import { formatIndexes, parseIndexes } from './indexes.ts';
import { jobWith, trackedPod } from './job.test-support.ts';
import { COMPLETION_INDEX } from './job-pods.ts';

describe('counting', () => {
  it('counts a finished Pod once, even after it is gone', () => {
    const seen = countPods(jobWith(), [
      trackedPod('a', 'Succeeded'),
      trackedPod('b', 'Failed'),
      trackedPod('c', 'Running'),
    ]);
    expect(seen).toMatchObject({ succeeded: 1, failed: 1, counted: { succeeded: 0, failed: 0 } });
    expect(seen.releasable.map(({ metadata }) => metadata?.name)).toEqual(['a', 'b']);
    const noted = jobWith({}, { uncountedTerminatedPods: seen.uncounted });
    expect(countPods(noted, [trackedPod('a', 'Succeeded'), trackedPod('b', 'Failed')])).toMatchObject({
      succeeded: 1,
      failed: 1,
    });
    const released = countPods(noted, [podWith({ name: 'a', phase: 'Succeeded' })]);
    expect(released).toMatchObject({ counted: { succeeded: 1, failed: 1 }, uncounted: {}, releasable: [] });
  });

  it('counts a terminating Pod as failed, unless its replacement must wait for its end', () => {
    const terminating = [trackedPod('a', 'Running', { isTerminating: true })];
    expect(countPods(jobWith(), terminating)).toMatchObject({ failed: 1, terminating: 1, active: [] });
    expect(countPods(jobWith({ podReplacementPolicy: 'Failed' }), terminating)).toMatchObject({
      failed: 0,
      terminating: 1,
    });
  });

  it('counts each completion index once', () => {
    const part = (name: string, index: string): Pod =>
      trackedPod(name, 'Succeeded', { annotations: { [COMPLETION_INDEX]: index } });
    const counts = countPods(jobWith({ completionMode: 'Indexed' }, { completedIndexes: '0' }), [
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
])('formats the indexes %s as %s', (list, text) => {
  const indexes = new Set(list === '' ? [] : list.split(',').map(Number));
  expect(formatIndexes(indexes)).toBe(text);
  expect([...parseIndexes(text)]).toEqual([...indexes]);
});
