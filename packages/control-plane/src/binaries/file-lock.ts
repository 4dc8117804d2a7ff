import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { type Clock, systemClock } from '@bowline/machinery';

/** FileLockOptions configures how to wait for a lock. */
export interface FileLockOptions {
  /** Called once with the holder's process id when the lock is held by a living process. Defaults to nothing. */
  readonly onWait?: ((pid: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Defaults to the system clock. */
  readonly clock?: Clock | undefined;
}

/** FileLock is a lock held by this process until it is released. */
export interface FileLock extends AsyncDisposable {
  release(): Promise<void>;
}

interface Holder {
  readonly pid: number;
  readonly host: string;
  /** Distinguishes a process from a later one with the same id; empty if the system does not provide it. */
  readonly started: string;
}

const POLL_MS = 200;

/**
 * lockFile waits until this process holds the lock at `path`. Node has no flock, so the lock is a file that only one process can
 * create and that contains its holder; the file of a dead process is taken over.
 */
export async function lockFile(path: string, options: FileLockOptions = {}): Promise<FileLock> {
  let notified = false;
  for (;;) {
    const lock = await tryLockFile(path);
    if (!('holder' in lock)) return lock;
    if (!notified) options.onWait?.(lock.holder.pid);
    notified = true;
    await (options.clock ?? systemClock).sleep(POLL_MS, options.signal);
  }
}

/** tryLockFile takes the lock, or returns its holder. */
export async function tryLockFile(path: string): Promise<FileLock | { readonly holder: { readonly pid: number } }> {
  await mkdir(dirname(path), { recursive: true });
  const mine = JSON.stringify({ pid: process.pid, host: hostname(), started: await startOf(process.pid) });
  for (;;) {
    if (await create(path, mine)) return held(path);
    const text = await readFile(path, 'utf8').catch(() => undefined);
    if (text === undefined) continue; // released in between
    const holder = parseHolder(text);
    if (holder && (await isAlive(holder))) return { holder };
    await removeStale(path, text);
  }
}

function held(path: string): FileLock {
  let released: Promise<void> | undefined;
  const release = (): Promise<void> => {
    released ??= rm(path, { force: true });
    return released;
  };
  return { release, [Symbol.asyncDispose]: release };
}

/** create creates the file with its content atomically: a reader never sees it half written. */
async function create(path: string, content: string): Promise<boolean> {
  const own = `${path}.${process.pid}.${randomBytes(6).toString('hex')}`;
  await writeFile(own, content, { flag: 'wx' });
  try {
    await link(own, path);
    return true;
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    await rm(own, { force: true });
  }
}

/**
 * removeStale removes a dead holder's file. It is renamed first, so that only one of two processes gets it; if the file has been
 * replaced by another holder meanwhile, it is restored.
 */
async function removeStale(path: string, expected: string): Promise<void> {
  const aside = `${path}.${process.pid}.${randomBytes(6).toString('hex')}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if (isCode(error, 'ENOENT')) return;
    throw error;
  }
  if ((await readFile(aside, 'utf8')) !== expected) {
    await link(aside, path).catch((error: unknown) => {
      if (!isCode(error, 'EEXIST')) throw error;
    });
  }
  await rm(aside, { force: true });
}

function parseHolder(text: string): Holder | undefined {
  try {
    const value = JSON.parse(text) as Partial<Holder> | null;
    return typeof value?.pid === 'number' && typeof value.host === 'string' && typeof value.started === 'string'
      ? { pid: value.pid, host: value.host, started: value.started }
      : undefined;
  } catch {
    return undefined;
  }
}

async function isAlive(holder: Holder): Promise<boolean> {
  // Another machine on the same file system: its state is unknown, so assume that it is alive.
  if (holder.host !== hostname()) return true;
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    return isCode(error, 'EPERM');
  }
  if (holder.started === '') return true;
  const { state, started } = await statOf(holder.pid);
  // A zombie keeps its id until its parent waits for it, which may take long or forever.
  return state !== 'Z' && state !== 'X' && holder.started === started;
}

async function startOf(pid: number): Promise<string> {
  return (await statOf(pid)).started;
}

/**
 * statOf reads the stat line on Linux: the state of the process, the 3rd field, and its start time in ticks since boot, the 22nd.
 * Empty on other systems.
 */
async function statOf(pid: number): Promise<{ readonly state: string; readonly started: string }> {
  const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The second field is the program's name in parentheses and may contain spaces.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', started: fields[19] ?? '' };
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
