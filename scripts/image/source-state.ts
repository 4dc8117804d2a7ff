import { execFileSync } from 'node:child_process';
import { repositoryRoot } from '../repository.ts';
import type { SourceState } from './image-manifest.ts';

/**
 * sourceState returns the commit of the work tree and its time. Without git, as in a build from a Dockerfile, the time is
 * SOURCE_DATE_EPOCH, or else that of the package lock.
 */
export function sourceState(lockDate: string, log: (line: string) => void): SourceState {
  const given = Number(process.env.SOURCE_DATE_EPOCH);
  const time = Number.isSafeInteger(given) && given > 0 ? given : undefined;
  try {
    const [commit = '', committed] = git('log', '-1', '--format=%H %ct').split(' ');
    const isDirty = git('status', '--porcelain') !== '';
    if (isDirty) log('the work tree has uncommitted changes: the image cannot be reproduced from its commit');
    return { time: time ?? Number(committed), revision: isDirty ? `${commit}-dirty` : commit };
  } catch {
    return { time: time ?? Date.parse(lockDate) / 1000, revision: undefined };
  }
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, {
    cwd: repositoryRoot,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
}
