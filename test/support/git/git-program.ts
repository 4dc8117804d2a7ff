import { execFile } from 'node:child_process';
import { findProgram } from '../../../packages/control-plane/src/binaries/find-binaries.ts';

/** AvailableGit is the path of git, or why tests that need it are skipped. */
export type AvailableGit = { readonly program: string } | { readonly skippedBecause: string };

/** availableGit looks for git on the PATH. */
export async function availableGit(): Promise<AvailableGit> {
  const program = await findProgram('git', process.env);
  return program === undefined ? { skippedBecause: 'git is not on the PATH' } : { program };
}

/** The user of the tests and the configuration of the system must not be used. */
const CLEAN = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  LC_ALL: 'C',
  GIT_AUTHOR_NAME: 'test',
  GIT_AUTHOR_EMAIL: 'test@example.com',
  GIT_COMMITTER_NAME: 'test',
  GIT_COMMITTER_EMAIL: 'test@example.com',
  GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z',
  GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z',
};

/** cleanGitEnvironment returns an environment for git in which only the PATH is taken from this process. */
export function cleanGitEnvironment(home: string): Record<string, string> {
  return { PATH: process.env.PATH ?? '', HOME: home, ...CLEAN };
}

/** runGit runs git as an author of a repository would. */
export function runGit(
  folder: string,
  args: readonly string[],
  options: { readonly input?: string | Buffer; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<string> {
  const env = { ...cleanGitEnvironment(folder), ...options.env };
  return new Promise((resolve, reject) => {
    const child = execFile('git', args, { cwd: folder, env, maxBuffer: 64 * 2 ** 20 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout.trim());
      else reject(new Error(`git ${args.join(' ')} failed: ${stderr}`, { cause: error }));
    });
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(options.input ?? '');
  });
}
