import { VirtualClock } from '@bowline/machinery';
import { describe, expect, it } from 'vitest';
import { Queue } from './queue.ts';
import { LOW_PRIORITY, type QueueOptions, type RetryOptions } from './queue-options.ts';

function setUp(options: Partial<QueueOptions> = {}) {
  const clock = new VirtualClock();
  const queue = new Queue({ name: 'test', clock, random: { next: () => 0 }, ...options });
  const takeAll = (): string[] => {
    const keys: string[] = [];
    for (let item = queue.take(); item; item = queue.take()) keys.push(item.key);
    return keys;
  };
  return { clock, queue, takeAll };
}

describe('Queue', () => {
  it('returns keys in the order in which they were added', () => {
    const { queue, takeAll } = setUp();
    for (const key of ['c', 'a', 'b']) queue.add(key);
    expect(takeAll()).toEqual(['c', 'a', 'b']);
  });

  it('keeps one entry per key', () => {
    const { queue, takeAll } = setUp();
    queue.add('a');
    queue.add('a');
    expect(queue.depth).toBe(1);
    expect(takeAll()).toEqual(['a']);
  });

  it('does not return a key that is being processed, and returns it once more if it was added meanwhile', () => {
    const { queue } = setUp();
    queue.add('a');
    queue.take();
    queue.add('a');
    queue.add('a');
    expect(queue.take()).toBeUndefined();
    queue.done('a');
    expect(queue.take()?.key).toBe('a');
    queue.done('a');
    expect(queue.take()).toBeUndefined();
    expect(queue.size).toBe(0);
  });

  it('returns changes before keys of the initial list', () => {
    const { queue, takeAll } = setUp();
    queue.add('listed', { priority: LOW_PRIORITY });
    queue.add('changed');
    expect(takeAll()).toEqual(['changed', 'listed']);
  });

  it('puts a key whose priority was raised behind the other keys of that priority', () => {
    const { queue, takeAll } = setUp();
    queue.add('raised', { priority: LOW_PRIORITY });
    queue.add('first');
    queue.add('raised');
    queue.add('last');
    expect(takeAll()).toEqual(['first', 'raised', 'last']);
  });

  it('never lowers a priority', () => {
    const { queue, takeAll } = setUp();
    queue.add('a');
    queue.add('a', { priority: LOW_PRIORITY });
    queue.add('b', { priority: -1 });
    expect(takeAll()).toEqual(['a', 'b']);
  });

  it('does not return a delayed key before its time', async () => {
    const { clock, queue } = setUp();
    queue.add('a', { afterMs: 100 });
    await clock.advance(99);
    expect(queue.take()).toBeUndefined();
    await clock.advance(1);
    expect(queue.take()?.key).toBe('a');
  });

  it('keeps the earlier time when a key is added twice', async () => {
    const { clock, queue } = setUp();
    queue.add('a', { afterMs: 100 });
    queue.add('a', { afterMs: 500 });
    queue.add('b', { afterMs: 500 });
    queue.add('b');
    expect(queue.take()?.key).toBe('b');
    await clock.advance(100);
    expect(queue.take()?.key).toBe('a');
  });

  it('returns keys that became ready together in the order of their times', async () => {
    const { clock, queue, takeAll } = setUp();
    queue.add('late', { afterMs: 20 });
    queue.add('early', { afterMs: 10 });
    await clock.advance(30);
    queue.add('now');
    expect(takeAll()).toEqual(['early', 'late', 'now']);
  });

  it('wakes waiting workers in order, including when a timer fires', async () => {
    const { clock, queue } = setUp();
    const got: (string | undefined)[] = [];
    const worker = async (): Promise<void> => {
      got.push((await queue.next())?.key);
    };
    const workers = [worker(), worker(), worker()];
    queue.add('a');
    queue.add('b', { afterMs: 10 });
    await clock.advance(10);
    expect(got).toEqual(['a', 'b']);
    queue.add('c');
    await Promise.all(workers);
    expect(got).toEqual(['a', 'b', 'c']);
  });

  it('rejects a waiting worker when its signal is aborted, without losing a key', async () => {
    const { queue } = setUp();
    const abort = new AbortController();
    const waiting = queue.next(abort.signal);
    abort.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(queue.next(abort.signal)).rejects.toThrow('enough');
    queue.add('a');
    expect(queue.take()?.key).toBe('a');
  });

  it('leaves no timer when no key is delayed', async () => {
    const { clock, queue } = setUp();
    queue.add('a', { afterMs: 100 });
    queue.add('b', { afterMs: 50 });
    await queue.shutDown();
    expect(clock.pendingTimers).toBe(0);
  });

  describe('after failures', () => {
    /** Lets a key fail whenever its timer fires; returns the delays. */
    const failing = async ({ queue, clock }: ReturnType<typeof setUp>, times: number, options: RetryOptions = {}) => {
      const delays: number[] = [];
      queue.add('a');
      for (let failure = 0; failure < times; failure++) {
        expect(queue.take()?.key).toBe('a');
        delays.push(queue.retry('a', options));
        queue.done('a');
        await clock.advance(delays.at(-1) ?? 0);
      }
      return delays;
    };

    it('doubles the delay from 5 ms up to 1000 s, and starts over once the key is forgotten', async () => {
      const set = setUp();
      const delays = await failing(set, 20);
      expect(delays.slice(0, 4)).toEqual([5, 10, 20, 40]);
      expect(delays.at(-1)).toBe(1_000_000);
      set.queue.forget('a');
      expect(await failing(set, 1)).toEqual([5]);
    });

    it('uses the backoff range of the failure if it has one', async () => {
      const range = { minMs: 30_000, maxMs: 60_000 };
      expect(await failing(setUp(), 3, { range })).toEqual([30_000, 60_000, 60_000]);
    });

    it('counts only retries whose timer fired: runs caused by adds before that neither extend nor restart the backoff', async () => {
      const { queue, clock } = setUp();
      const range = { minMs: 30_000, maxMs: 600_000 };
      const cause = { by: 'enqueue' } as const;
      const fail = () => {
        const item = queue.take();
        const delay = queue.retry('a', { range });
        queue.done('a');
        return { delay, failures: item?.failures, causes: item?.causes.map(({ by }) => by) };
      };
      queue.add('a', { cause });
      expect(fail()).toEqual({ delay: 30_000, failures: 0, causes: ['enqueue'] });
      for (const leftMs of [29_000, 28_000, 27_000]) {
        await clock.advance(1_000);
        queue.add('a', { cause });
        expect(fail()).toEqual({ delay: leftMs, failures: 1, causes: ['enqueue'] });
      }
      await clock.advance(27_000);
      expect(fail()).toEqual({ delay: 60_000, failures: 1, causes: ['retry'] });
    });

    it('extends the delay for a failure with a longer range, measured from the same failure regardless of adds', async () => {
      const { queue, clock } = setUp();
      queue.add('a');
      queue.take();
      expect(queue.retry('a')).toBe(5);
      queue.done('a');
      const range = { minMs: 30_000, maxMs: 600_000 };
      const delays: number[] = [];
      for (let n = 0; n < 3; n++) {
        await clock.advance(1);
        queue.add('a');
        queue.take();
        delays.push(queue.retry('a', n === 1 ? {} : { range }));
        queue.done('a');
      }
      expect(delays).toEqual([29_999, 29_998, 29_997]);
    });

    it('retries a key soon after a conflict although it is due much later, and keeps its due time', async () => {
      const { queue, clock } = setUp();
      const slow = { range: { minMs: 30_000, maxMs: 600_000 } };
      const collision = { range: { minMs: 5, maxMs: 1_000 }, soon: true };
      const fail = (options: RetryOptions) => {
        const { failures } = queue.take() ?? {};
        const delay = queue.retry('a', options);
        queue.done('a');
        return [failures, delay];
      };
      queue.add('a');
      expect(fail(slow)).toEqual([0, 30_000]);
      queue.add('a');
      expect(fail(collision)).toEqual([1, 1_000]);
      await clock.advance(1_000);
      expect(fail(slow)).toEqual([1, 29_000]);
    });

    it('counts a run that was still running when the retry was due', async () => {
      const { queue, clock } = setUp();
      queue.add('a');
      queue.take();
      queue.retry('a');
      queue.done('a');
      queue.add('a');
      queue.take();
      await clock.advance(5);
      expect(queue.retry('a')).toBe(10);
    });

    it('applies jitter that shortens delays and never lengthens them', () => {
      const { queue } = setUp({ random: { next: () => 0.999 } });
      expect(queue.retry('a')).toBeCloseTo(4.5, 1);
    });

    it('keeps the priority of the run that failed', async () => {
      const { clock, queue, takeAll } = setUp();
      queue.add('failed', { priority: LOW_PRIORITY });
      queue.take();
      queue.retry('failed');
      queue.done('failed');
      await clock.advance(5);
      queue.add('other');
      expect(takeAll()).toEqual(['other', 'failed']);
    });

    it('returns the key immediately if it was added while it was being processed', () => {
      const { queue } = setUp();
      queue.add('a');
      queue.take();
      queue.add('a');
      queue.retry('a');
      queue.done('a');
      expect(queue.take()).toMatchObject({ key: 'a', failures: 1 });
    });
  });

  describe('causes', () => {
    const update = (key: string) => ({ by: 'watch', kind: 'ConfigMap', key, type: 'update' }) as const;

    it('are returned with the item, including those of adds during the previous run and those of fired timers', async () => {
      const { queue, clock } = setUp();
      queue.add('a', { cause: update('n/a') });
      queue.add('a', { cause: { by: 'resync' } });
      expect(queue.take()?.causes).toEqual([update('n/a'), { by: 'resync' }]);
      queue.add('a', { cause: update('n/b') });
      queue.retry('a', { code: 'BOWLINE_X' });
      queue.done('a');
      expect(queue.take()?.causes).toEqual([update('n/b')]);
      queue.retry('a', { code: 'BOWLINE_X' });
      queue.done('a');
      const retry = { by: 'retry', attempt: 2, code: 'BOWLINE_X' };
      expect(queue.entries()).toMatchObject([{ state: 'delayed', causes: [retry] }]);
      await clock.advance(5);
      expect(queue.entries()).toMatchObject([{ state: 'ready', causes: [retry] }]);
      expect(queue.take()?.causes).toEqual([retry]);
    });

    it('are bounded: duplicates count once, and the number of dropped causes is returned', () => {
      const { queue } = setUp({ maxCauses: 3 });
      for (let n = 0; n < 5; n++) queue.add('a', { cause: update('n/same') });
      for (let n = 0; n < 5; n++) queue.add('a', { cause: update(`n/${n}`) });
      const item = queue.take();
      expect(item?.causes).toEqual([update('n/same'), update('n/0'), update('n/1')]);
      expect(item?.droppedCauses).toBe(3);
    });

    it('are dropped beyond the limit of detailed keys, while the keys are kept', () => {
      const { queue, takeAll } = setUp({ detailedKeys: 2 });
      for (const key of ['a', 'b', 'c']) queue.add(key, { cause: { by: 'resync' } });
      expect(queue.entries().map((entry) => [entry.key, entry.causes.length, entry.droppedCauses])).toEqual([
        ['a', 1, 0],
        ['b', 1, 0],
        ['c', 0, 1],
      ]);
      expect(takeAll()).toEqual(['a', 'b', 'c']);
    });
  });

  it('returns the state of every key', async () => {
    const { clock, queue } = setUp();
    queue.add('running', { priority: 7, cause: { by: 'enqueue', source: 'test' } });
    queue.take();
    queue.add('delayed', { afterMs: 50 });
    await clock.advance(10);
    queue.add('ready');
    expect(queue.entries()).toMatchObject([
      { key: 'running', state: 'running', priority: 7, runningForMs: 10, causes: [{ by: 'enqueue', source: 'test' }] },
      { key: 'delayed', state: 'delayed', readyInMs: 40 },
      { key: 'ready', state: 'ready' },
    ]);
    expect(queue.entries(1)).toHaveLength(1);
  });

  it('rejects done for a key that no worker is processing', () => {
    const { queue } = setUp();
    queue.add('a');
    expect(() => queue.done('a')).toThrow(expect.objectContaining({ code: 'BOWLINE_QUEUE_MISUSE' }));
  });

  describe('shutDown', () => {
    it('returns keys that were ready, rejects new ones, and resolves when the last key is done', async () => {
      const { queue } = setUp();
      queue.add('a');
      queue.add('b');
      queue.add('delayed', { afterMs: 5 });
      queue.take();
      queue.add('a');
      let drained = false;
      const down = queue.shutDown().then(() => {
        drained = true;
      });
      expect(queue.add('c')).toBe(false);
      expect(queue.take()?.key).toBe('b');
      queue.retry('b');
      queue.done('b');
      queue.done('a');
      await Promise.resolve();
      expect(drained).toBe(false);
      expect((await queue.next())?.key).toBe('a');
      queue.done('a');
      await down;
      expect(await queue.next()).toBeUndefined();
      expect(queue.size).toBe(0);
    });

    it('drops waiting keys with discard, and still waits for running ones', async () => {
      const { queue } = setUp();
      queue.add('a');
      queue.add('b');
      queue.take();
      queue.add('a');
      const worker = queue.next();
      expect((await worker)?.key).toBe('b');
      queue.add('c');
      const idle = queue.shutDown({ discard: true });
      expect(await queue.next()).toBeUndefined();
      queue.done('a');
      queue.done('b');
      await idle;
      expect(queue.size).toBe(0);
    });

    it('resolves waiting workers with undefined', async () => {
      const { queue } = setUp();
      const waiting = queue.next();
      await queue.shutDown();
      expect(await waiting).toBeUndefined();
    });
  });
});
