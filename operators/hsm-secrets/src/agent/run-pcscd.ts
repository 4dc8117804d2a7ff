import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { BowlineError, type Clock, systemClock, type Timer } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import { silentLog } from '@bowline/runtime/manager';
import { RestartDelay } from './restart-delay.ts';

/** PcscdOptions configures the daemon of smart card readers. */
export interface PcscdOptions {
  /** Defaults to `pcscd` in the PATH. */
  readonly program?: string | undefined;
  /** Where the daemon keeps its socket. Defaults to /run/pcscd. */
  readonly folder?: string | undefined;
  /** Defaults to the system clock. */
  readonly clock?: Clock | undefined;
  /** Defaults to no logging. */
  readonly log?: Log | undefined;
}

/** What an ended daemon leaves: the next one would take the process with the same id for another daemon. */
const LEFTOVERS = ['pcscd.pid', 'pcscd.comm'];
const STOP_MS = 5_000;

/**
 * runPcscd runs pcscd, through which modules such as OpenSC use smart cards, until the signal is aborted, and restarts it
 * when it ends. It rejects with BOWLINE_HSM_PCSCD_MISSING if the program does not exist.
 */
export async function runPcscd(options: PcscdOptions, signal: AbortSignal): Promise<void> {
  const { program = 'pcscd', folder = '/run/pcscd', clock = systemClock, log = silentLog } = options;
  const delay = new RestartDelay(clock);
  while (!signal.aborted) {
    for (const name of LEFTOVERS) await rm(join(folder, name), { force: true });
    delay.started();
    const cause = await runOnce(program, clock, signal);
    if (signal.aborted) return;
    const delayMs = delay.afterEnd();
    log.error('pcscd ended, restarting it', { cause, delayMs });
    await clock.sleep(delayMs, signal).catch(() => undefined);
  }
}

/** runOnce returns why the daemon ended. Its output is dropped: with debugging enabled it contains PINs. */
async function runOnce(program: string, clock: Clock, signal: AbortSignal): Promise<string> {
  const child = spawn(program, ['--foreground'], { stdio: 'ignore' });
  let timer: Timer | undefined;
  const stop = (): void => {
    child.kill('SIGTERM');
    timer = clock.setTimer(STOP_MS, () => child.kill('SIGKILL'));
  };
  signal.addEventListener('abort', stop, { once: true });
  try {
    const [code, endedBy] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    return endedBy ? `signal ${endedBy}` : `exit code ${code}`;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new BowlineError(
      'BOWLINE_HSM_PCSCD_MISSING',
      `cannot run ${program} (${code}): use an image that contains it, or set pkcs11.pcscd of the HSMDevice to false`,
      { cause: error },
    );
  } finally {
    signal.removeEventListener('abort', stop);
    timer?.cancel();
  }
}
