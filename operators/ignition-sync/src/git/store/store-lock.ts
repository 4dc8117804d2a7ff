import { randomBytes } from 'node:crypto';
import { type FileHandle, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { between, type Clock, type Random, systemClock, systemRandom, type Timer } from '@bowline/machinery';

/** StoreLockOptions configures how to wait for a lock. */
export interface StoreLockOptions {
  /** Who takes the lock, for messages: the name of the pod. */
  readonly holder: string;
  readonly signal: AbortSignal;
  /** Called with the holder when the lock is held by another process, once per holder. Defaults to nothing. */
  readonly onWait?: ((holder: string) => void) | undefined;
  /** Defaults to the system clock. */
  readonly clock?: Clock | undefined;
  /** Defaults to the system's. */
  readonly random?: Random | undefined;
}

/** StoreLock is a lock that this process holds until it is disposed of. */
export interface StoreLock extends AsyncDisposable {
  /** Aborted when the options' signal is aborted, and when another process has taken over the lock: stop writing. */
  readonly signal: AbortSignal;
}

const TOUCH_MS = 10_000;
/** Six missed touches. */
const STALE_MS = 60_000;
const POLL_MS = 1_000;

/**
 * lockStore waits until this process holds the lock file of an object store that pods on several nodes share. The file belongs to
 * whoever created it, and is touched every 10 s. It is taken over when its time is 60 s behind that of a file that is written now:
 * both times come from the same file server, so the clocks of the nodes do not matter. A holder that was suspended for longer than
 * that may write for up to 10 s beside the new one: git's own locks keep the repository intact then, and one of the two fetches fails.
 */
export async function lockStore(path: string, options: StoreLockOptions): Promise<StoreLock> {
  const { clock = systemClock, random = systemRandom, signal, onWait } = options;
  let notified: string | undefined;
  for (;;) {
    signal.throwIfAborted();
    const file = await create(path, options.holder);
    if (file) return hold(path, file, clock, signal);
    const found = await readLock(path);
    if (found === undefined) continue; // released in between
    if (found.time <= (await timeNow(path)) - STALE_MS) {
      const taken = await takeOver(path, found, options.holder);
      if (taken) return hold(path, taken, clock, signal);
    }
    if (found.holder !== notified) onWait?.(found.holder);
    notified = found.holder;
    await clock.sleep(POLL_MS * between(random, 0.8, 1.2), signal);
  }
}

interface FoundLock {
  readonly holder: string;
  readonly inode: number;
  readonly time: number;
}

async function create(path: string, holder: string): Promise<FileHandle | undefined> {
  const file = await open(path, 'wx+', 0o660).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') return undefined;
    throw error;
  });
  await file?.write(holder, 0);
  return file;
}

function hold(path: string, file: FileHandle, clock: Clock, outer: AbortSignal): StoreLock {
  const lost = new AbortController();
  let timer: Timer | undefined;
  let touching: Promise<void> = Promise.resolve();
  let isReleased = false;
  const schedule = (): void => {
    timer = clock.setTimer(TOUCH_MS, () => {
      touching = touch(path, file).then((isOurs) => {
        if (isReleased) return;
        if (isOurs) schedule();
        else lost.abort(new Error(`another process has taken over ${path}`));
      });
    });
  };
  schedule();
  return {
    signal: AbortSignal.any([outer, lost.signal]),
    async [Symbol.asyncDispose]() {
      isReleased = true;
      timer?.cancel();
      await touching;
      const isOurs = await isSameFile(path, file).catch(() => false);
      await file.close();
      if (isOurs) await rm(path, { force: true });
    },
  };
}

/**
 * touch renews the time of the lock by writing to it, so that the file server sets it; an explicit time would be this node's. It
 * returns whether the lock is still ours. A file system that fails for a moment does not lose the lock.
 */
async function touch(path: string, file: FileHandle): Promise<boolean> {
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(256), 0, 256, 0);
    await file.write(buffer, 0, bytesRead, 0);
    return await isSameFile(path, file);
  } catch {
    return true;
  }
}

async function isSameFile(path: string, file: FileHandle): Promise<boolean> {
  const current = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return current !== undefined && current.ino === (await file.stat()).ino;
}

async function readLock(path: string): Promise<FoundLock | undefined> {
  try {
    const { ino, mtimeMs } = await stat(path);
    return { holder: await readFile(path, 'utf8'), inode: ino, time: mtimeMs };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** timeNow returns the current time of the file server, by writing a file. */
async function timeNow(path: string): Promise<number> {
  const probe = `${path}.${randomBytes(6).toString('hex')}`;
  const file = await open(probe, 'wx', 0o600);
  try {
    await file.write('.');
    return (await file.stat()).mtimeMs;
  } finally {
    await file.close();
    await rm(probe, { force: true });
  }
}

/**
 * takeOver replaces a stale lock by ours, or returns undefined if another process does so or the lock has changed. A second file
 * admits one process at a time, and a rename never leaves a moment without a lock in which a third process could create one.
 */
async function takeOver(path: string, stale: FoundLock, holder: string): Promise<FileHandle | undefined> {
  const guard = `${path}.takeover`;
  const guardFile = await create(guard, holder);
  if (!guardFile) {
    const found = await readLock(guard);
    // A process ended while it took over.
    if (found && found.time <= (await timeNow(path)) - STALE_MS) await rm(guard, { force: true });
    return undefined;
  }
  try {
    const current = await readLock(path);
    // Its holder touches it by writing, so a lock that is in use again has a later time.
    if (current?.inode !== stale.inode || current.time !== stale.time) return undefined;
    const own = `${path}.${randomBytes(6).toString('hex')}`;
    const file = await create(own, holder);
    await rename(own, path);
    return file;
  } finally {
    await guardFile.close();
    await rm(guard, { force: true });
  }
}
