import type { StoredMeta } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import { POD_ANNOTATIONS, RESTARTED_FOR } from '../api/names.ts';
import { podChanged, viewOfPod } from './pod-view.ts';

const pod = (change: Partial<StoredMeta> = {}) =>
  viewOfPod({
    metadata: {
      namespace: 'shop',
      name: 'web',
      uid: 'u',
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:01Z',
      annotations: { [POD_ANNOTATIONS.secretSync]: 'provider: mock', other: 'x' },
      ...change,
    },
  });

describe('viewOfPod', () => {
  it('keeps nothing of a pod without a request', () => {
    expect(pod({ annotations: { other: 'x' } })).toBeUndefined();
  });

  it('keeps the request and the creation time', () => {
    expect(pod()).toMatchObject({
      namespace: 'shop',
      name: 'web',
      uid: 'u',
      createdAt: Date.UTC(2026, 0, 1, 0, 0, 1),
      annotation: 'provider: mock',
      forceSync: undefined,
      isTerminating: false,
      restartedFor: {},
    });
  });

  it('keeps the restart annotations', () => {
    const annotations = { [POD_ANNOTATIONS.secretSync]: '', [`${RESTARTED_FOR}db`]: '0f' };
    expect(pod({ annotations })?.restartedFor).toEqual({ [`${RESTARTED_FOR}db`]: '0f' });
  });
});

describe('podChanged', () => {
  it.each<[what: string, change: Partial<StoredMeta>, passes: boolean]>([
    ['drops a change of the status', { resourceVersion: '2' }, false],
    ['passes the start of its deletion', { deletionTimestamp: '2026-01-01T00:00:09Z' }, true],
    ['passes a change of its request', { annotations: { [POD_ANNOTATIONS.secretSync]: 'provider: vault' } }, true],
  ])('%s', (_, change, passes) => {
    expect(podChanged({ previous: pod(), current: pod(change) })).toBe(passes);
  });
});
