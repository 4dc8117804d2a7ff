import { VirtualClock } from '@bowline/machinery';
import { describe, expect, it } from 'vitest';
import { MOST_RUNS, StorePlaces } from './store-places.ts';

const nobody = { key: 'nobody', callBack: () => undefined };

describe('ProviderConcurrency', () => {
  it('leaves runs for other stores when one hangs, and notifies deferred runs later', async () => {
    const clock = new VirtualClock();
    const places = new StorePlaces(clock);
    const calledBack: string[] = [];
    const caller = (key: string) => ({ key, callBack: () => calledBack.push(key) });
    let answer = (): void => undefined;
    const answered = new Promise<string>((resolve) => {
      answer = () => resolve('late');
    });
    const runs = Array.from({ length: MOST_RUNS }, (_, run) =>
      places.waitFor('slow', caller(`run ${run}`), () => answered),
    );
    // Now it hangs.
    await clock.advance(1_000);
    expect(await Promise.all(runs.slice(24))).toEqual(Array.from({ length: MOST_RUNS - 24 }, () => undefined));
    expect(await places.waitFor('other', nobody, () => Promise.resolve('here'))).toBe('here');
    expect(calledBack).toEqual([]);
    answer();
    expect(await Promise.all(runs.slice(0, 24))).toEqual(Array.from({ length: 24 }, () => 'late'));
    expect(calledBack).toEqual(Array.from({ length: MOST_RUNS - 24 }, (_, run) => `run ${run + 24}`));
    expect(await places.waitFor('slow', caller('run 24'), () => Promise.resolve('finally'))).toBe('finally');
  });

  it('queues runs while the store responds', async () => {
    const clock = new VirtualClock();
    const places = new StorePlaces(clock);
    const answers: (() => void)[] = [];
    const runs = Array.from({ length: 100 }, (_, run) =>
      places.waitFor('slow', { ...nobody, key: `run ${run}` }, async () => {
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
    const places = new StorePlaces(new VirtualClock());
    for (let run = 0; run <= MOST_RUNS; run++) {
      await expect(places.waitFor('broken', nobody, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    }
  });
});
