import { expect, it } from 'vitest';
import { KeyStream } from './key-stream.ts';

async function take(stream: AsyncIterator<string>, count: number): Promise<readonly unknown[]> {
  const taken: unknown[] = [];
  while (taken.length < count) taken.push((await stream.next()).value);
  return taken;
}

it('yields keys that were added before and after it is followed, each once', async () => {
  const keys = new KeyStream();
  keys.add('a');
  keys.add('b');
  keys.add('a');
  const stream = keys.follow(new AbortController().signal);
  expect(await take(stream, 2)).toEqual(['a', 'b']);
  const next = stream.next();
  keys.add('a');
  expect((await next).value).toBe('a');
});

it('drops keys when too many are waiting, and reports it', () => {
  const keys = new KeyStream({ maxWaiting: 1 });
  expect([keys.add('a'), keys.add('b'), keys.add('a')]).toEqual([true, false, true]);
});

it('ends when the signal is aborted', async () => {
  const end = new AbortController();
  const next = new KeyStream().follow(end.signal).next();
  end.abort();
  await expect(next).rejects.toThrow(/abort/i);
});
