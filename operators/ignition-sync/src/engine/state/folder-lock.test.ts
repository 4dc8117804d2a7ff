import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VirtualClock } from '@bowline/machinery';
import { describe, expect, it } from 'vitest';
import { DataFolder } from '../files/data-folder.ts';
import { FolderLock } from './folder-lock.ts';

async function setUp() {
  const path = mkdtempSync(join(tmpdir(), 'bowline-lock-'));
  const folder = await DataFolder.open(path);
  const lock = join(folder.state, 'lock');
  const age = (seconds: number): void => utimesSync(lock, Date.now() / 1000 - seconds, Date.now() / 1000 - seconds);
  return { folder, lock, age, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

describe('the lock of a data folder', () => {
  it('is taken over at once from the same pod, and from another one after a minute without a touch', async () => {
    using world = await setUp();
    const clock = new VirtualClock();
    const first = await FolderLock.acquire(world.folder, { holder: 'a', clock });
    const second = await FolderLock.acquire(world.folder, { holder: 'a', clock });
    await expect(first.check()).rejects.toMatchObject({ reason: 'DataFolderBusy' });
    world.age(59);
    await expect(FolderLock.acquire(world.folder, { holder: 'b', clock })).rejects.toThrow('used by a');
    world.age(61);
    const third = await FolderLock.acquire(world.folder, { holder: 'b', clock });
    await expect(second.check()).rejects.toThrow('used by b');
    for (const lock of [first, second]) await lock[Symbol.asyncDispose]();
    await third.check();
    await third[Symbol.asyncDispose]();
    expect(readdirSync(world.folder.state).toSorted()).toEqual(['replaced', 'staging']);
  });

  it('is touched while it is held', async () => {
    using world = await setUp();
    const clock = new VirtualClock();
    await using _ = await FolderLock.acquire(world.folder, { holder: 'a', clock });
    for (let count = 0; count < 2; count++) {
      world.age(300);
      const before = statSync(world.lock).mtimeMs;
      await clock.advance(10_000);
      await expect.poll(() => statSync(world.lock).mtimeMs).toBeGreaterThan(before);
    }
  });

  it('has one holder when many agents find an old one', async () => {
    using world = await setUp();
    const clock = new VirtualClock();
    const stale = await FolderLock.acquire(world.folder, { holder: 'gone', clock });
    world.age(120);
    const holders = ['b', 'c', 'd', 'e', 'f'];
    const results = await Promise.allSettled(
      holders.map((holder) => FolderLock.acquire(world.folder, { holder, clock })),
    );
    const locks = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    const checks = await Promise.allSettled(locks.map((lock) => lock.check()));
    expect(checks.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const lock of [...locks, stale]) await lock[Symbol.asyncDispose]();
  });
});
