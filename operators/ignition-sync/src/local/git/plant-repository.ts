import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '@bowline/machinery';
import type { GitRunner } from '../../git/runner/git-runner.ts';
import { commitFiles } from './commit-files.ts';
import { plantFiles } from './plant-files.ts';

/** REPOSITORY is the name of the sample repository. */
export const REPOSITORY = 'plant.git';

/** BRANCH is the branch that the sample follows. */
export const BRANCH = 'main';

/** openPlantRepository returns the path of the sample repository in a folder. It is created with its first commit. */
export async function openPlantRepository(
  runner: GitRunner,
  folder: string,
  clock: Pick<Clock, 'now'>,
  signal?: AbortSignal,
): Promise<string> {
  const gitDir = join(folder, REPOSITORY);
  if (!existsSync(join(gitDir, 'HEAD'))) {
    await mkdir(gitDir, { recursive: true, mode: 0o700 });
    await runner.run({ args: ['init', '--quiet', '--bare', `--initial-branch=${BRANCH}`], gitDir, signal });
  }
  if ((await headOf(runner, gitDir)) === undefined) {
    const about = { gitDir, branch: BRANCH, message: 'Add two gateways', files: plantFiles(), nowMs: clock.now() };
    await commitFiles(runner, { ...about, signal });
  }
  return gitDir;
}

/** headOf returns the commit of the branch; undefined if there is none. */
export async function headOf(runner: GitRunner, gitDir: string): Promise<string | undefined> {
  const ref = `refs/heads/${BRANCH}`;
  return (await runner.run({ args: ['for-each-ref', '--format=%(objectname)', ref], gitDir })).trim() || undefined;
}
