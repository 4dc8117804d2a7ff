import { mkdtemp, readdir, readFile, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VirtualClock } from '@bowline/machinery';
import { expect, it, vi } from 'vitest';
import { lockStore } from './store-lock.ts';

const waiting = { timeout: 20_000, interval: 10 };

async function temporaryStore() {
  const folder = await mkdtemp(join(tmpdir(), 'bowline-lock-'));
  const clock = new VirtualClock();
  const stop = new AbortController();
  const path = join(folder, 'fetch.lock');
  return {
    folder,
    path,
    clock,
    stop,
    lock: (holder: string, onWait?: (holder: string) => void) =>
      lockStore(path, { holder, clock, signal: stop.signal, onWait }),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** setAge makes the lock look as if it was touched this long ago. */
async function setAge(path: string, seconds: number): Promise<void> {
  const time = Date.now() / 1_000 - seconds;
  await utimes(path, time, time);
}

it('lets one process in at a time, and names the holder to the others', async () => {
  await using store = await temporaryStore();
  const order: string[] = [];
  const first = await store.lock('pod-a');
  expect(await readFile(store.path, 'utf8')).toBe('pod-a');
  const second = store
    .lock('pod-b', (holder) => order.push(`waits for ${holder}`))
    .then((lock) => {
      order.push('has it');
      return lock;
    });
  await vi.waitFor(() => expect(store.clock.pendingTimers).toBe(2), waiting);
  await store.clock.advance(5_000);
  order.push('released');
  await first[Symbol.asyncDispose]();
  await vi.waitFor(async () => {
    await store.clock.advance(1_200);
    expect(order).toEqual(['waits for pod-a', 'released', 'has it']);
  }, waiting);
  await (await second)[Symbol.asyncDispose]();
  expect(await readdir(store.folder)).toEqual([]);
});

it('is touched every 10 s by its holder', async () => {
  await using store = await temporaryStore();
  await using _lock = await store.lock('pod-a');
  await setAge(store.path, 50);
  await store.clock.advance(10_000);
  await vi.waitFor(async () => expect(Date.now() - (await stat(store.path)).mtimeMs).toBeLessThan(30_000), waiting);
  expect(await readFile(store.path, 'utf8')).toBe('pod-a');
});

it('is taken over 60 s after the last touch, and not before', async () => {
  await using store = await temporaryStore();
  const first = await store.lock('pod-a');
  await setAge(store.path, 50);
  const waits: string[] = [];
  const second = store.lock('pod-b', (holder) => waits.push(holder));
  await vi.waitFor(() => expect(waits).toEqual(['pod-a']), waiting);
  await setAge(store.path, 61);
  await vi.waitFor(() => expect(store.clock.pendingTimers).toBe(2), waiting);
  await store.clock.advance(1_200);
  await using taken = await second;
  expect(await readFile(store.path, 'utf8')).toBe('pod-b');
  // The first one notices at its next touch, and does not remove the lock of the other.
  expect(first.signal.aborted).toBe(false);
  await store.clock.advance(10_000);
  await vi.waitFor(() => expect(first.signal.aborted).toBe(true), waiting);
  expect(taken.signal.aborted).toBe(false);
  await first[Symbol.asyncDispose]();
  expect(await readFile(store.path, 'utf8')).toBe('pod-b');
});

it('is taken over by one of many', async () => {
  await using store = await temporaryStore();
  const dead = await store.lock('dead');
  await setAge(store.path, 120);
  let held = 0;
  let most = 0;
  const work = async (name: string): Promise<void> => {
    const lock = await store.lock(name);
    most = Math.max(most, ++held);
    await new Promise(setImmediate);
    held--;
    await lock[Symbol.asyncDispose]();
  };
  let done = false;
  const all = Promise.all(Array.from({ length: 16 }, (_, index) => work(`pod-${index}`))).finally(() => {
    done = true;
  });
  await vi.waitFor(async () => {
    await store.clock.advance(1_200);
    expect(done).toBe(true);
  }, waiting);
  await all;
  await dead[Symbol.asyncDispose]();
  expect(most).toBe(1);
  expect(await readdir(store.folder)).toEqual([]);
});

it('stops waiting when the signal is aborted, and passes it on to the holder', async () => {
  await using store = await temporaryStore();
  const lock = await store.lock('pod-a');
  const waits: string[] = [];
  const second = store.lock('pod-b', (holder) => waits.push(holder)).catch((error: unknown) => error);
  await vi.waitFor(() => expect(waits.length).toBe(1), waiting);
  const reason = new Error('stop');
  store.stop.abort(reason);
  expect(await second).toBe(reason);
  expect(lock.signal.reason).toBe(reason);
  await lock[Symbol.asyncDispose]();
  expect(await readdir(store.folder)).toEqual([]);
});
