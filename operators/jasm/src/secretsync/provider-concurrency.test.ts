import { VirtualClock } from '@bowline/machinery';
import { describe, expect, it } from 'vitest';
import { MAX_CONCURRENT_RUNS, ProviderConcurrency } from './provider-concurrency.ts';

const noop = { key: 'nobody', callBack: () => undefined };

describe('ProviderConcurrency', () => {
  it('leaves runs for other stores when one hangs, and notifies deferred runs later', async () => {
    const clock = new VirtualClock();
    const concurrency = new ProviderConcurrency(clock);
    const notified: string[] = [];
    const caller = (key: string) => ({ key, callBack: () => notified.push(key) });
    let answer = (): void => undefined;
    const answered = new Promise<string>((resolve) => {
      answer = () => resolve('late');
    });
    const runs = Array.from({ length: MAX_CONCURRENT_RUNS }, (_, run) =>
      concurrency.runWithSlot('slow', caller(`run ${run}`), () => answered),
    );
    // Now it hangs.
    await clock.advance(1_000);
    expect(await Promise.all(runs.slice(24))).toEqual(
      Array.from({ length: MAX_CONCURRENT_RUNS - 24 }, () => undefined),
    );
    expect(await concurrency.runWithSlot('other', noop, () => Promise.resolve('here'))).toBe('here');
    expect(notified).toEqual([]);
    answer();
    expect(await Promise.all(runs.slice(0, 24))).toEqual(Array.from({ length: 24 }, () => 'late'));
    expect(notified).toEqual(Array.from({ length: MAX_CONCURRENT_RUNS - 24 }, (_, run) => `run ${run + 24}`));
    expect(await concurrency.runWithSlot('slow', caller('run 24'), () => Promise.resolve('finally'))).toBe('finally');
  });

  it('queues runs while the store responds', async () => {
    const clock = new VirtualClock();
    const concurrency = new ProviderConcurrency(clock);
    const answers: (() => void)[] = [];
    const runs = Array.from({ length: 100 }, (_, run) =>
      concurrency.runWithSlot('slow', { ...noop, key: `run ${run}` }, async () => {
        await new Promise<void>((resolve) => answers.push(resolve));
        return run;
      }),
    );
    for (let answered = 0; answered < 100; answered++) {
      await clock.advance(900);
      expect(answers).toHaveLength(Math.min(24 + answered, 100));
      answers[answered]?.();
    }
    expect(await Promise.all(runs)).toEqual(Array.from({ length: 100 }, (_, run) => run));
  });

  it('releases a slot after a failure', async () => {
    const concurrency = new ProviderConcurrency(new VirtualClock());
    for (let run = 0; run <= MAX_CONCURRENT_RUNS; run++) {
      await expect(concurrency.runWithSlot('broken', noop, () => Promise.reject(new Error('no')))).rejects.toThrow(
        'no',
      );
    }
  });
});
