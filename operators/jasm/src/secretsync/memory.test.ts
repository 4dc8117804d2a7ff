import { describe, expect, it } from 'vitest';
import { asking } from '../pods/asking.test-support.ts';
import { repairableAt, repairedAgain, SyncMemory } from './memory.ts';

const { pod } = asking('web');

describe('SyncMemory', () => {
  it('gives all pods of the start one instant, and later ones their own', () => {
    const memory = new SyncMemory();
    memory.begin(() => [pod], 1);
    memory.begin(() => [asking('other').pod], 2);
    expect(memory.notice(pod, 3)).toMatchObject({ at: 1, isInitial: true });
    expect(memory.notice(asking('other').pod, 3)).toMatchObject({ at: 3, isInitial: false });
    expect(memory.notice(asking('other').pod, 4)).toMatchObject({ at: 3 });
  });

  it('takes a pod of the same name for another one', () => {
    const memory = new SyncMemory();
    memory.begin(() => [pod], 1);
    expect(memory.notice({ ...pod, uid: 'new' }, 2)).toMatchObject({ at: 2, isInitial: false });
    memory.forgetPod('shop/web');
    expect(memory.notice({ ...pod, uid: 'new' }, 3)).toMatchObject({ at: 3 });
  });

  it('forgets a Secret', () => {
    const memory = new SyncMemory();
    memory.of('shop/db').answered.set('u', 'hash');
    expect(memory.of('shop/db').answered.size).toBe(1);
    memory.forget('shop/db');
    expect(memory.of('shop/db').answered.size).toBe(0);
  });
});

describe('repairs', () => {
  it('are quick a few times, then later each time, and quick again after a while in peace', () => {
    let repairs = { count: 0, at: 0 };
    const waits: number[] = [];
    for (let times = 0; times < 8; times++) {
      repairs = repairedAgain(repairs, 1_000);
      waits.push(repairableAt(repairs) - 1_000);
    }
    expect(waits).toEqual([0, 0, 0, 0, 1_000, 2_000, 4_000, 8_000]);
    expect(repairableAt({ count: 100, at: 0 })).toBe(600_000);
    expect(repairedAgain(repairs, 700_000).count).toBe(1);
  });
});
