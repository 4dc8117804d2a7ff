import { expect, it } from 'vitest';
import { SyncError } from '../engine/sync-error.ts';
import { GitError } from '../git/errors/git-error.ts';
import { describeFailure } from './agent-error.ts';

it.each([
  [
    new GitError('HostUnreachable', 'git.example.com cannot be reached', { remedy: 'it is retried' }),
    { reason: 'HostUnreachable', message: 'git.example.com cannot be reached; it is retried' },
  ],
  [
    new SyncError('DiskFull', { path: 'projects/a', problem: 'the volume is full', remedy: 'free space' }),
    { reason: 'DiskFull', message: 'projects/a: the volume is full; free space' },
  ],
  [new Error('canary'), { reason: 'SyncFailed', message: 'the sync failed; see the log of the agent' }],
])('describes %s with its reason once', (error, failure) => {
  expect(describeFailure(error)).toEqual(failure);
});
