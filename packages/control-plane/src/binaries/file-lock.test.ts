import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { VirtualClock } from '@bowline/machinery';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockFile, tryLockFile } from './file-lock.ts';

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'file-lock-'));
  path = join(folder, 'lock');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  return child.pid ?? 0;
}

describe('lockFile', () => {
  it('gives the lock to one holder at a time and leaves nothing behind', async () => {
    let holders = 0;
    let maximum = 0;
    const work = async (): Promise<void> => {
      await using _lock = await lockFile(path);
      holders += 1;
      maximum = Math.max(maximum, holders);
      await new Promise((resolve) => setImmediate(resolve));
      holders -= 1;
    };
    await Promise.all([work(), work(), work()]);
    expect(maximum).toBe(1);
    expect(await readdir(folder)).toEqual([]);
  });

  it('takes over the lock of a process that is dead', async () => {
    await writeFile(path, JSON.stringify({ pid: await deadPid(), host: hostname(), started: '' }));
    await using lock = await lockFile(path);
    expect(lock).toBeDefined();
  });

  it('takes over when the process id now belongs to a process that started later', async () => {
    await writeFile(path, JSON.stringify({ pid: process.pid, host: hostname(), started: '1' }));
    const lock = await tryLockFile(path);
    expect('holder' in lock).toBe(process.platform !== 'linux');
    if (!('holder' in lock)) await lock.release();
  });

  it.runIf(process.platform === 'linux')('takes over from a zombie process', { timeout: 30_000 }, async () => {
    // Its parent becomes another program, which does not wait for it, before it may exit.
    const parent = spawn('sh', ['-c', 'exec 3<&0; cat <&3 & echo $!; exec sleep 60'], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    try {
      const [line] = (await once(parent.stdout, 'data')) as [Buffer];
      const pid = Number(line.toString());
      const parentName = (): Promise<string> => readFile(`/proc/${parent.pid}/comm`, 'utf8');
      await expect.poll(parentName).toBe('sleep\n');
      parent.stdin.end();
      const fields = async (): Promise<string[]> =>
        (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
      await expect.poll(async () => (await fields())[0]).toBe('Z');
      await writeFile(path, JSON.stringify({ pid, host: hostname(), started: (await fields())[19] }));
      await using lock = await lockFile(path);
      expect(lock).toBeDefined();
    } finally {
      parent.kill();
    }
  });

  it('takes over a file without a valid holder', async () => {
    await writeFile(path, 'not a lock');
    await using lock = await lockFile(path);
    expect(lock).toBeDefined();
  });

  it('waits for a holder on another machine, whose state is unknown', async () => {
    await writeFile(path, JSON.stringify({ pid: 1, host: `not-${hostname()}`, started: '' }));
    expect(await tryLockFile(path)).toEqual({ holder: expect.objectContaining({ pid: 1 }) });
  });

  it('reports once which process it waits for and stops waiting when aborted', async () => {
    await using _held = await lockFile(path);
    const clock = new VirtualClock();
    const abort = new AbortController();
    const seen: number[] = [];
    const waiting = lockFile(path, {
      clock,
      signal: abort.signal,
      onWait: (pid) => {
        seen.push(pid);
        abort.abort(new Error('enough'));
      },
    });
    await expect(waiting).rejects.toThrow('enough');
    expect(seen).toEqual([process.pid]);
  });
});
