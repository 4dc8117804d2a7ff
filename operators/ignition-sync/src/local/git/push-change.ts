import { join } from 'node:path';
import type { Clock } from '@bowline/machinery';
import { openAccess } from '../../git/access/open-access.ts';
import { parseGitUrl } from '../../git/address/git-url.ts';
import type { GitRunner } from '../../git/runner/git-runner.ts';
import { commitFiles } from './commit-files.ts';
import type { PlantFiles } from './plant-files.ts';

/** PushOptions describes a change of a repository. */
export interface PushOptions {
  readonly url: string;
  readonly token: string;
  readonly branch: string;
  readonly message: string;
  readonly files: PlantFiles;
  readonly clock: Pick<Clock, 'now'>;
  readonly signal: AbortSignal;
}

/** pushChange adds a commit to a branch of a repository on a server, as a user with a clone does, and returns its hash. */
export async function pushChange(runner: GitRunner, options: PushOptions): Promise<string> {
  const { url, token, branch, message, files, clock, signal } = options;
  await using scratch = await runner.scratch();
  const gitDir = join(scratch.path, 'clone.git');
  await runner.run({ args: ['init', '--quiet', '--bare', `--initial-branch=${branch}`], gitDir, signal });
  await using access = await openAccess({ runner, url: parseGitUrl(url), credentials: { type: 'token', token } });
  const { connection } = access;
  const ref = `refs/heads/${branch}`;
  // Trees are enough to change files of a commit.
  const fetch = ['fetch', '--quiet', '--no-tags', '--depth=1', '--filter=blob:none'];
  await runner.run({ args: fetch, operands: ['origin', `${ref}:${ref}`], gitDir, connection, signal });
  const commit = await commitFiles(runner, { gitDir, branch, message, files, nowMs: clock.now(), signal });
  await runner.run({ args: ['push', '--quiet'], operands: ['origin', `${ref}:${ref}`], gitDir, connection, signal });
  return commit;
}
