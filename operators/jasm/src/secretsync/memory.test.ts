import { describe, expect, it } from 'vitest';
import { requestingPod } from '../pods/requesting-pod.test-support.ts';
import { countRepair, nextRepairAt, readNeededSince, SyncMemory } from './memory.ts';

const { pod } = requestingPod('web');

describe('SyncMemory', () => {
  it('gives all initial pods the same instant, and each later pod its own', () => {
    const memory = new SyncMemory();
    memory.recordInitialPods(() => [pod], 1);
    memory.recordInitialPods(() => [requestingPod('other').pod], 2);
    expect(memory.observePod(pod, 3)).toMatchObject({ at: 1, isInitial: true });
    expect(memory.observePod(requestingPod('other').pod, 3)).toMatchObject({ at: 3, isInitial: false });
    expect(memory.observePod(requestingPod('other').pod, 4)).toMatchObject({ at: 3 });
  });

  it('treats a recreated pod of the same name as another pod', () => {
    const memory = new SyncMemory();
    memory.recordInitialPods(() => [pod], 1);
    expect(memory.observePod({ ...pod, uid: 'new' }, 2)).toMatchObject({ at: 2, isInitial: false });
    memory.forgetPod('shop/web');
    expect(memory.observePod({ ...pod, uid: 'new' }, 3)).toMatchObject({ at: 3 });
  });

  it.each([{ annotation: 'something else' }, { forceSync: 'now' }])(
    'treats a pod whose request changes to %j as newly observed',
    (change) => {
      const memory = new SyncMemory();
      memory.recordInitialPods(() => [pod], 1);
      expect(memory.observePod({ ...pod, ...change }, 2)).toMatchObject({ at: 2, isInitial: false });
      expect(memory.observePod({ ...pod, ...change }, 3)).toMatchObject({ at: 2 });
    },
  );

  it('forgets a Secret', () => {
    const memory = new SyncMemory();
    memory.of('shop/db').handledRequests.set('u', 'hash');
    expect(memory.of('shop/db').handledRequests.size).toBe(1);
    memory.forget('shop/db');
    expect(memory.of('shop/db').handledRequests.size).toBe(0);
  });
});

describe('readNeededSince', () => {
  it.each([
    ['no earlier run is known', undefined, Number.NEGATIVE_INFINITY],
    ['the last run was for the same request', { requestHash: 'a', since: 1, at: 9 }, 1],
    ['the last run was for another request', { requestHash: 'b', since: 1, at: 9 }, 9],
    ['the last run had no reason to read, or an obstacle', { requestHash: undefined, since: 1, at: 9 }, 9],
  ])('when %s', (_, before, since) => {
    expect(readNeededSince(before, 'a')).toBe(since);
  });
});

describe('repairs', () => {
  it('are immediate a few times, then increasingly delayed, and immediate again after a quiet period', () => {
    let repairs = { count: 0, at: 0 };
    const waits: number[] = [];
    for (let times = 0; times < 8; times++) {
      repairs = countRepair(repairs, 1_000);
      waits.push(nextRepairAt(repairs) - 1_000);
    }
    expect(waits).toEqual([0, 0, 0, 0, 1_000, 2_000, 4_000, 8_000]);
    expect(nextRepairAt({ count: 100, at: 0 })).toBe(600_000);
    expect(countRepair(repairs, 700_000).count).toBe(1);
  });
});
