import { hasCode } from '../files/has-code.ts';
import { SyncError } from '../sync-error.ts';

/** diskFull returns the error for a volume without enough space. */
export function diskFull(path: string, problem: string, cause?: unknown): SyncError {
  return new SyncError('DiskFull', { path, problem, remedy: 'free space on the volume of the gateway', cause });
}

/** fromSystem returns the error of a sync for an error of a system call, and any other error unchanged. */
export function fromSystem(error: unknown, path: string): unknown {
  if (hasCode(error, 'ENOSPC', 'EDQUOT')) return diskFull(path, 'the volume became full', error);
  if (!hasCode(error, 'EACCES', 'EPERM', 'EROFS')) return error;
  return new SyncError('ApplyFailed', {
    path,
    problem: 'the agent may not write it',
    remedy: 'run the agent as the user of the gateway, or correct the permissions of the data folder',
    cause: error,
  });
}
