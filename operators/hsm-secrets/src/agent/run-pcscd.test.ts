import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VirtualClock } from '@bowline/machinery';
import { silentLog } from '@bowline/runtime/manager';
import { expect, it, vi } from 'vitest';
import { runPcscd } from './run-pcscd.ts';

const waiting = { timeout: 10_000, interval: 5 };

it('restarts the daemon when it ends, without leftovers of the earlier one, and stops it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bowline-pcscd-'));
  const program = join(folder, 'pcscd');
  const starts = join(folder, 'starts');
  // Like the real one, it refuses to start if the file of its process id exists. It ends once, then runs on.
  await writeFile(
    program,
    `#!/bin/sh
[ -e "${folder}/pcscd.pid" ] && exit 9
echo "$@" >> "${starts}"
touch "${folder}/pcscd.pid"
[ "$(wc -l < "${starts}")" -gt 1 ] || exit 1
exec sleep 1000
`,
  );
  await chmod(program, 0o755);
  await writeFile(join(folder, 'pcscd.pid'), '1');
  const clock = new VirtualClock();
  const lines: unknown[] = [];
  const log = { ...silentLog, error: (message: string, fields?: object) => void lines.push({ message, ...fields }) };
  const stop = new AbortController();
  const running = runPcscd({ program, folder, clock, log }, stop.signal);
  try {
    await vi.waitFor(() => expect(lines).toHaveLength(1), waiting);
    expect(lines).toEqual([{ message: 'pcscd ended, restarting it', cause: 'exit code 1', delayMs: 1_000 }]);
    await clock.advance(1_000);
    await vi.waitFor(async () => expect(await readFile(starts, 'utf8')).toBe('--foreground\n--foreground\n'), waiting);
  } finally {
    stop.abort();
    await running;
    await rm(folder, { recursive: true });
  }
  expect(clock.pendingTimers).toBe(0);
});

it('explains a missing program', async () => {
  const running = runPcscd({ program: '/nonexistent/pcscd', folder: '/nonexistent' }, new AbortController().signal);
  await expect(running).rejects.toMatchObject({
    code: 'BOWLINE_HSM_PCSCD_MISSING',
    message: expect.stringContaining('use an image that contains it, or set pkcs11.pcscd of the HSMDevice to false'),
  });
});
