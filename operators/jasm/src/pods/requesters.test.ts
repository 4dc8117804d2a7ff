import { describe, expect, it } from 'vitest';
import { requestersOf } from './requesters.ts';
import { requestingPod } from './requesting-pod.test-support.ts';

describe('requestersOf', () => {
  it('treats the pods of one Deployment as one requester, whose youngest pod decides', () => {
    const requesters = requestersOf([
      requestingPod('old', { of: 'web', at: 10, request: { path: '/a' } }),
      requestingPod('new', { of: 'web', at: 20, request: { path: '/b' } }),
      requestingPod('alone', { at: 15, request: { path: '/c' } }),
    ]);
    expect(requesters.map(({ workload, request, since }) => [workload.id, request.path, since])).toEqual([
      ['Deployment.apps/web', '/b', 10_000],
      ['Pod/alone', '/c', 15_000],
    ]);
    expect(requesters[0]?.pods.map(({ pod }) => pod.name)).toEqual(['new', 'old']);
  });

  it('ignores the request of a terminating pod while another pod is running', () => {
    const [requester] = requestersOf([
      requestingPod('old', { of: 'web', at: 10, request: { path: '/a' } }),
      requestingPod('new', { of: 'web', at: 20, isTerminating: true, request: { path: '/b' } }),
    ]);
    expect(requester?.request.path).toBe('/a');
    expect(requester?.isShuttingDown).toBe(false);
    expect(requester?.pods).toHaveLength(1);
  });

  it('keeps a requester whose pods are all terminating', () => {
    const [requester] = requestersOf([requestingPod('a', { isTerminating: true, request: { path: '/a' } })]);
    expect(requester).toMatchObject({ isShuttingDown: true, pods: [], request: { path: '/a' } });
  });

  it('lets the pod that was observed last decide among pods created in the same second', () => {
    const pods = ['c', 'a', 'b'].map((name, index) => ({
      ...requestingPod(name, { of: 'web', at: 10, request: { path: `/${name}` } }),
      observedAt: index,
    }));
    for (const each of [pods, pods.toReversed()]) expect(requestersOf(each)[0]?.request.path).toBe('/b');
  });

  it('keeps the current request of the Secret if the youngest pod is unknown', () => {
    const pods = ['c', 'a', 'b'].map((name) =>
      requestingPod(name, { of: 'web', at: 10, request: { path: `/${name}` } }),
    );
    expect(requestersOf(pods, 'hash of /c')[0]?.request.path).toBe('/c');
  });

  it('decides independently of the order of pods created in the same second', () => {
    const pods = ['c', 'a', 'b'].map((name) =>
      requestingPod(name, { of: 'web', at: 10, request: { path: `/${name}` } }),
    );
    const decided = [pods, pods.toReversed()].map((each) => requestersOf(each)[0]?.request.path);
    expect(new Set(decided).size).toBe(1);
  });
});
