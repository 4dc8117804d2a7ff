import { seededRandom, VirtualClock } from '@bowline/machinery';
import { describe, expect, it } from 'vitest';
import { GitError, type GitErrorReason } from '../errors/git-error.ts';
import type { OperationReport, OperationRequest, OperationState } from './operation.ts';
import { Operations, type OperationsOptions } from './operations.ts';

interface Call {
  readonly name: string;
  readonly items: readonly string[];
  readonly signal: AbortSignal;
  succeed(): Promise<void>;
  fail(reason: GitErrorReason): Promise<void>;
}

const settle = (): Promise<void> => new Promise(setImmediate);

/** harness records every operation that starts; tests end them. */
function harness(options: Partial<OperationsOptions> = {}) {
  const clock = new VirtualClock();
  const calls: Call[] = [];
  const notified: string[] = [];
  const reports: OperationReport[] = [];
  const operations = new Operations({
    clock,
    random: seededRandom(1),
    notify: (user) => notified.push(user),
    observe: (report) => reports.push(report),
    ...options,
  });
  const request = (
    source: string,
    name: string,
    more: Partial<OperationRequest<string>> = {},
  ): OperationRequest<string> => ({
    source,
    name,
    run: (signal, items) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        calls.push({
          name: `${source} ${name}`,
          items,
          signal,
          succeed: async () => {
            resolve(new Map(items.map((item) => [item, `${item}@${clock.monotonic()}`])));
            await settle();
          },
          fail: async (reason) => {
            reject(new GitError(reason, 'failed', { remedy: 'wait' }));
            await settle();
          },
        });
      }),
    ...more,
  });
  const ask = (
    user: string,
    source: string,
    name: string,
    more: Partial<OperationRequest<string>> = {},
  ): OperationState<string> => {
    const needs = operations.needs(user);
    const state = needs.request(request(source, name, more));
    needs.complete();
    return state;
  };
  const names = (): string[] => calls.map((call) => call.name);
  return { clock, calls, notified, reports, operations, ask, request, names };
}

describe('sharing', () => {
  it('runs one operation for 100 users, and gives all of them its result', async () => {
    const { ask, calls, notified, reports } = harness();
    const users = Array.from({ length: 100 }, (_, index) => `ns/${index}`);
    for (const user of users) expect(ask(user, 'a', 'resolve', { item: 'main' }).state).toBe('pending');
    await calls[0]?.succeed();
    expect(notified).toEqual(users);
    for (const user of users)
      expect(ask(user, 'a', 'resolve', { item: 'main' })).toMatchObject({ state: 'done', value: 'main@0' });
    expect(calls.length).toBe(1);
    expect(reports).toEqual([{ operation: 'resolve', result: 'ok', durationMs: 0, users: 100 }]);
  });

  it('handles the items of all users in one operation, and those that came later in the next', async () => {
    const { ask, calls } = harness({ concurrency: 1 });
    ask('x', 'b', 'resolve');
    ask('1', 'a', 'resolve', { item: 'main' });
    ask('2', 'a', 'resolve', { item: 'v1' });
    await calls[0]?.succeed();
    expect(calls[1]?.items).toEqual(['main', 'v1']);
    expect(ask('3', 'a', 'resolve', { item: 'v2' }).state).toBe('pending');
    await calls[1]?.succeed();
    expect(ask('2', 'a', 'resolve', { item: 'v1' }).state).toBe('done');
    expect(ask('3', 'a', 'resolve', { item: 'v2' }).state).toBe('pending');
    expect(calls[2]?.items).toEqual(['main', 'v1', 'v2']);
  });

  it('starts again when a result is too old, and returns the previous one until then', async () => {
    const { ask, calls, clock } = harness();
    const more = { item: 'main', maxAgeMs: 60_000 };
    ask('1', 'a', 'resolve', more);
    await calls[0]?.succeed();
    const first = ask('1', 'a', 'resolve', more);
    const dueAfterMs = first.state === 'done' ? Math.ceil(first.dueAfterMs) : 0;
    expect([dueAfterMs >= 54_000, dueAfterMs < 66_000]).toEqual([true, true]);
    await clock.advance(dueAfterMs - 1);
    // Whoever asks, it is due at the same time.
    for (const user of ['1', '2']) expect(ask(user, 'a', 'resolve', more).state).toBe('done');
    await clock.advance(1);
    for (const user of ['1', '2'])
      expect(ask(user, 'a', 'resolve', more)).toEqual({ state: 'pending', previous: 'main@0' });
    await calls[1]?.succeed();
    expect(ask('2', 'a', 'resolve', more)).toMatchObject({ state: 'done', value: `main@${dueAfterMs}` });
    expect(calls.length).toBe(2);
  });

  it('uses the result of an operation that took longer than the time until the next one', async () => {
    const { ask, calls, clock } = harness();
    const more = { item: 'main', maxAgeMs: 30_000 };
    ask('1', 'a', 'resolve', more);
    await clock.advance(60_000);
    await calls[0]?.succeed();
    expect(ask('1', 'a', 'resolve', more)).toMatchObject({ state: 'done', value: 'main@60000' });
  });

  it('needs an operation that started after the trigger of a user changed', async () => {
    const { ask, calls, clock } = harness();
    ask('1', 'a', 'resolve', { trigger: 'g1' });
    // The running operation may have read the refs before the push that caused the trigger.
    expect(ask('1', 'a', 'resolve', { trigger: 'g2' }).state).toBe('pending');
    await calls[0]?.succeed();
    expect(ask('1', 'a', 'resolve', { trigger: 'g2' }).state).toBe('pending');
    expect(calls.length).toBe(2);
    await clock.advance(10);
    await calls[1]?.succeed();
    expect(ask('1', 'a', 'resolve', { trigger: 'g2' })).toMatchObject({ state: 'done', value: '@10' });
    expect(calls.length).toBe(2);
  });
});

describe('order', () => {
  it('runs one operation of a source at a time, and a limited number in total', async () => {
    const { ask, calls, names } = harness({ concurrency: 2 });
    ask('1', 'a', 'one');
    ask('2', 'a', 'two');
    ask('3', 'b', 'one');
    ask('4', 'c', 'one');
    expect(names()).toEqual(['a one', 'b one']);
    await calls[1]?.succeed();
    expect(names()).toEqual(['a one', 'b one', 'c one']);
    await calls[2]?.succeed();
    expect(names().length).toBe(3);
    await calls[0]?.succeed();
    expect(names()).toEqual(['a one', 'b one', 'c one', 'a two']);
  });

  it('gives every source its turn before a source with many operations gets a second one', async () => {
    const { ask, calls, names } = harness({ concurrency: 1 });
    for (const name of ['one', 'two', 'three']) ask(`a-${name}`, 'a', name);
    for (const source of ['b', 'c']) ask(source, source, 'one');
    for (let index = 0; index < 5; index++) await calls[index]?.succeed();
    expect(names()).toEqual(['a one', 'b one', 'c one', 'a two', 'a three']);
  });
});

describe('cancellation', () => {
  it('aborts a running operation when its last user is released, and not before', async () => {
    const { ask, calls, operations, reports } = harness();
    ask('1', 'a', 'fetch x');
    ask('2', 'a', 'fetch x');
    operations.release('1');
    expect(calls[0]?.signal.aborted).toBe(false);
    operations.release('2');
    expect(calls[0]?.signal.aborted).toBe(true);
    await settle();
    expect(reports).toMatchObject([{ operation: 'fetch', result: 'cancelled', users: 0 }]);
    expect(operations.size).toBe(0);
  });

  it('drops what a user does not request any more, and starts what it requests instead', async () => {
    const { ask, calls, names } = harness();
    ask('1', 'a', 'fetch x');
    ask('1', 'a', 'fetch y');
    expect(calls[0]?.signal.aborted).toBe(true);
    await settle();
    expect(names()).toEqual(['a fetch x', 'a fetch y']);
  });

  it('never starts an operation that was dropped while it waited', async () => {
    const { ask, calls, operations, names } = harness({ concurrency: 1 });
    ask('1', 'a', 'one');
    ask('2', 'b', 'one');
    operations.release('2');
    await calls[0]?.succeed();
    expect(names()).toEqual(['a one']);
    expect(operations.size).toBe(1);
  });

  it('restarts an operation that is requested again while it is being aborted', async () => {
    const { ask, operations, names } = harness();
    ask('1', 'a', 'fetch x');
    operations.release('1');
    expect(ask('1', 'a', 'fetch x').state).toBe('pending');
    await settle();
    expect(names()).toEqual(['a fetch x', 'a fetch x']);
  });

  it('does not abort what an incomplete run left out', () => {
    const { ask, calls, operations, request } = harness();
    ask('1', 'a', 'fetch x');
    operations.needs('1').request(request('a', 'resolve'));
    expect(calls[0]?.signal.aborted).toBe(false);
  });

  it('aborts everything when it is disposed of, and notifies nobody', async () => {
    const { ask, calls, operations, notified } = harness();
    ask('1', 'a', 'one');
    ask('2', 'b', 'one');
    await operations[Symbol.asyncDispose]();
    expect(calls.map(({ signal }) => signal.aborted)).toEqual([true, true]);
    expect(notified).toEqual([]);
  });

  it('aborts an operation that takes too long, which counts as a failure', async () => {
    const { ask, calls, clock } = harness();
    ask('1', 'a', 'one');
    await clock.advance(120_000);
    await settle();
    expect(calls[0]?.signal.aborted).toBe(true);
    expect(ask('1', 'a', 'one')).toMatchObject({ state: 'failed', error: { reason: 'Timeout' } });
  });
});

describe('failures', () => {
  it('delay all operations of the source from 30 s to 5 min', async () => {
    const { ask, calls, clock } = harness();
    const delays: number[] = [];
    for (let attempt = 0; attempt < 6; attempt++) {
      expect(ask('1', 'a', 'resolve').state).toBe('pending');
      await calls.at(-1)?.fail('HostUnreachable');
      const state = ask('1', 'a', 'resolve');
      if (state.state !== 'failed') throw new Error(state.state);
      delays.push(state.retryAfterMs / 1_000);
      expect(ask('2', 'a', 'fetch x')).toMatchObject({ state: 'failed', error: { reason: 'HostUnreachable' } });
      await clock.advance(state.retryAfterMs);
    }
    [30, 60, 120, 240, 300, 300].forEach((longest, index) => {
      expect(delays[index]).toBeLessThanOrEqual(longest);
      expect(delays[index]).toBeGreaterThanOrEqual(longest * 0.9);
    });
    expect(calls.length).toBe(6);
  });

  it('of one ref or commit do not delay the rest of the source', async () => {
    const { ask, calls } = harness();
    ask('1', 'a', 'fetch x');
    await calls[0]?.fail('CommitGone');
    expect(ask('1', 'a', 'fetch x')).toMatchObject({ state: 'failed', error: { reason: 'CommitGone' } });
    expect(ask('2', 'a', 'fetch y').state).toBe('pending');
  });

  it('keep the previous result, do not affect other sources, and end with a success', async () => {
    const { ask, calls, clock } = harness();
    const more = { maxAgeMs: 10 };
    ask('1', 'a', 'resolve', more);
    await calls[0]?.succeed();
    await clock.advance(11);
    ask('1', 'a', 'resolve', more);
    await calls[1]?.fail('HostUnreachable');
    expect(ask('1', 'a', 'resolve', more)).toMatchObject({ state: 'failed', previous: '@0' });
    expect(ask('2', 'b', 'resolve', more).state).toBe('pending');
    await clock.advance(30_000);
    expect(ask('1', 'a', 'resolve', more).state).toBe('pending');
    await calls[3]?.succeed();
    expect(ask('1', 'a', 'resolve', more).state).toBe('done');
    await clock.advance(11);
    ask('1', 'a', 'resolve', more);
    await calls[4]?.fail('HostUnreachable');
    const state = ask('1', 'a', 'resolve', more);
    expect(state.state === 'failed' && state.retryAfterMs <= 30_000).toBe(true);
  });

  it('are retried at once when the trigger of a user changes', async () => {
    const { ask, calls } = harness();
    ask('1', 'a', 'resolve', { trigger: 'secret 1' });
    ask('2', 'a', 'resolve', { trigger: 'x' });
    await calls[0]?.fail('AuthenticationFailed');
    expect(ask('2', 'a', 'resolve', { trigger: 'x' }).state).toBe('failed');
    expect(ask('1', 'a', 'resolve', { trigger: 'secret 2' }).state).toBe('pending');
    expect(calls.length).toBe(2);
  });

  it('grow for an operation although another one of the source succeeds', async () => {
    const { ask, calls, clock } = harness();
    const resolve = { maxAgeMs: 1 };
    const fetchAgain = async (): Promise<number> => {
      ask('1', 'a', 'fetch x');
      await calls.at(-1)?.fail('Timeout');
      const state = ask('1', 'a', 'fetch x');
      return state.state === 'failed' ? state.retryAfterMs : 0;
    };
    await clock.advance(await fetchAgain());
    ask('2', 'a', 'resolve', resolve);
    await calls.at(-1)?.succeed();
    expect(await fetchAgain()).toBeGreaterThan(50_000);
  });
});
