import { describe, expect, it } from 'vitest';
import { askersOf } from './askers.ts';
import { asking } from './asking.test-support.ts';

describe('requestersOf', () => {
  it('treats the pods of one Deployment as one requester, whose youngest pod decides', () => {
    const askers = askersOf([
      asking('old', { of: 'web', at: 10, request: { path: '/a' } }),
      asking('new', { of: 'web', at: 20, request: { path: '/b' } }),
      asking('alone', { at: 15, request: { path: '/c' } }),
    ]);
    expect(askers.map(({ workload, request, since }) => [workload.id, request.path, since])).toEqual([
      ['Deployment.apps/web', '/b', 10_000],
      ['Pod/alone', '/c', 15_000],
    ]);
    expect(askers[0]?.pods.map(({ pod }) => pod.name)).toEqual(['new', 'old']);
  });

  it('ignores the request of a terminating pod while another pod is running', () => {
    const [asker] = askersOf([
      asking('old', { of: 'web', at: 10, request: { path: '/a' } }),
      asking('new', { of: 'web', at: 20, isTerminating: true, request: { path: '/b' } }),
    ]);
    expect(asker?.request.path).toBe('/a');
    expect(asker?.isLeaving).toBe(false);
    expect(asker?.pods).toHaveLength(1);
  });

  it('keeps a requester whose pods are all terminating', () => {
    const [asker] = askersOf([asking('a', { isTerminating: true, request: { path: '/a' } })]);
    expect(asker).toMatchObject({ isLeaving: true, pods: [], request: { path: '/a' } });
  });

  it('lets the pod that was observed last decide among pods created in the same second', () => {
    const pods = ['c', 'a', 'b'].map((name, index) => ({
      ...asking(name, { of: 'web', at: 10, request: { path: `/${name}` } }),
      noticedAt: index,
    }));
    for (const each of [pods, pods.toReversed()]) expect(askersOf(each)[0]?.request.path).toBe('/b');
  });

  it('keeps the current request of the Secret if the youngest pod is unknown', () => {
    const pods = ['c', 'a', 'b'].map((name) => asking(name, { of: 'web', at: 10, request: { path: `/${name}` } }));
    expect(askersOf(pods, 'hash of /c')[0]?.request.path).toBe('/c');
  });

  it('decides independently of the order of pods created in the same second', () => {
    const pods = ['c', 'a', 'b'].map((name) => asking(name, { of: 'web', at: 10, request: { path: `/${name}` } }));
    const decided = [pods, pods.toReversed()].map((each) => askersOf(each)[0]?.request.path);
    expect(new Set(decided).size).toBe(1);
  });
});
