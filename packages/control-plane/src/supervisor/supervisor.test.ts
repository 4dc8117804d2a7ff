import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ProcessSpec } from './protocol.ts';
import { Supervisor } from './supervisor.ts';

function sleeper(name: string, folder: string): ProcessSpec {
  const args = ['-e', 'setInterval(() => {}, 1000)'];
  return { name, command: process.execPath, args, logFile: join(folder, `${name}.log`), stopSignal: 'SIGTERM' };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

describe('Supervisor', { timeout: 30_000 }, () => {
  it('runs processes, and stops them and removes the temporary folder when it stops', async () => {
    const supervisor = new Supervisor();
    const folder = await supervisor.opened();
    const one = await supervisor.start(sleeper('one', folder));
    const two = await supervisor.start(sleeper('two', folder));
    expect(isAlive(one.pid)).toBe(true);
    supervisor.signal('two', 'SIGKILL');
    expect(await two.exited).toEqual({ code: null, signal: 'SIGKILL' });
    expect(supervisor.running('two')).toBeUndefined();
    await supervisor.stop();
    expect(isAlive(one.pid)).toBe(false);
    expect(await exists(folder)).toBe(false);
  });

  it('rejects a program that does not exist', async () => {
    await using supervisor = new Supervisor();
    const folder = await supervisor.opened();
    const spec = { ...sleeper('absent', folder), command: join(folder, 'absent') };
    await expect(supervisor.start(spec)).rejects.toMatchObject({
      message: expect.stringContaining('cannot run absent'),
    });
  });

  it('leaves nothing behind when the supervisor process itself is killed', async () => {
    const supervisor = new Supervisor();
    const folder = await supervisor.opened();
    const child = await supervisor.start(sleeper('one', folder));
    process.kill(supervisor.pid ?? 0, 'SIGKILL');
    await child.exited;
    await supervisor.stop();
    expect(await exists(folder)).toBe(false);
    await expect(supervisor.start(sleeper('two', folder))).rejects.toMatchObject({ code: 'BOWLINE_SUPERVISOR' });
  });

  it('reports why its command cannot be run', async () => {
    await using supervisor = new Supervisor({ command: { command: process.execPath, args: ['/absent.js'] } });
    await expect(supervisor.opened()).rejects.toMatchObject({
      code: 'BOWLINE_SUPERVISOR',
      message: expect.stringContaining('Cannot find module'),
    });
  });
});
