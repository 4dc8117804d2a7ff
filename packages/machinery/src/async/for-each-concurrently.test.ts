import { expect, it } from 'vitest';
import { forEachConcurrently } from './for-each-concurrently.ts';

/** A gate is work that ends when the test opens it. */
function gates() {
  const open: (() => void)[] = [];
  const started: number[] = [];
  return {
    started,
    work: (item: number) => {
      started.push(item);
      return new Promise<void>((resolve) => open.push(resolve));
    },
    release: async (index: number) => {
      open[index]?.();
      await new Promise(setImmediate);
    },
  };
}

it('processes up to the limit of items at a time, and starts the next when one is done', async () => {
  const { started, work, release } = gates();
  const done = forEachConcurrently([1, 2, 3, 4], 2, work);
  expect(started).toEqual([1, 2]);
  await release(1);
  expect(started).toEqual([1, 2, 3]);
  await release(2);
  await release(3);
  await release(0);
  expect(await done).toEqual([]);
});

it('returns the failures in the order of the items, and still processes the others', async () => {
  const seen: number[] = [];
  const failures = await forEachConcurrently([1, 2, 3, 4, 5], 2, async (item) => {
    if (item === 1) await new Promise(setImmediate);
    seen.push(item);
    if (item % 2 === 1) throw new Error(`no ${item}`);
  });
  expect(seen.toSorted()).toEqual([1, 2, 3, 4, 5]);
  expect(failures.map(({ item, error }) => [item, (error as Error).message])).toEqual([
    [1, 'no 1'],
    [3, 'no 3'],
    [5, 'no 5'],
  ]);
});

it('treats a synchronous throw as a failure of the item', async () => {
  const failures = await forEachConcurrently(['a', 'b'], 1, (item) => {
    if (item === 'a') throw new TypeError('a');
  });
  expect(failures).toMatchObject([{ item: 'a', error: { message: 'a' } }]);
});

it('starts no item after an abort, waits for the running ones, and rejects with the reason', async () => {
  const { started, work, release } = gates();
  const stop = new AbortController();
  const reason = new Error('enough');
  let ended = false;
  const done = forEachConcurrently([1, 2, 3], 2, work, { signal: stop.signal });
  const watched = done.finally(() => {
    ended = true;
  });
  watched.catch(() => undefined);
  stop.abort(reason);
  await release(0);
  expect(ended).toBe(false);
  await release(1);
  await expect(watched).rejects.toBe(reason);
  expect(started).toEqual([1, 2]);
});

it('ignores an abort after the last item has started', async () => {
  const stop = new AbortController();
  const failures = await forEachConcurrently([1], 8, () => stop.abort(), { signal: stop.signal });
  expect(failures).toEqual([]);
});

it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('rejects a limit of %s', async (limit) => {
  await expect(forEachConcurrently([], limit, () => undefined)).rejects.toMatchObject({
    code: 'BOWLINE_CONCURRENCY_INVALID',
  });
});
