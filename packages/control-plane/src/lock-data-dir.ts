import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { BowlineError } from '@bowline/machinery';
import { type FileLock, tryLockFile } from './binaries/file-lock.ts';

/**
 * lockDataDir creates the data folder of a control plane if it is missing, and locks it against every other control
 * plane.
 */
export async function lockDataDir(dataDir: string): Promise<FileLock> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
    throw new BowlineError(
      'BOWLINE_CONTROL_PLANE_OPTIONS',
      `cannot create the data folder ${dataDir}: ${cause instanceof Error ? cause.message : String(cause)}; choose a folder that you may write to`,
      { cause },
    );
  });
  const lock = await tryLockFile(join(dataDir, 'lock'));
  if (!('holder' in lock)) return lock;
  throw new BowlineError(
    'BOWLINE_CONTROL_PLANE_OPTIONS',
    `the data folder ${dataDir} is used by the control plane of process ${lock.holder.pid}; stop it or choose another folder`,
  );
}
