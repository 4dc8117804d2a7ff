import { cleanGitEnvironment } from '../../../test/support/git/git-program.ts';
import type { Peer } from '../../support/peers.ts';
import { runProgram } from '../../support/run-program.ts';

/** Tool is a program that can run here. */
export type Tool = Exclude<Peer, { readonly skippedBecause: string }>;

/** runTool runs a program to its end, with git's defaults and nothing of the user's configuration. */
export async function runTool(
  { command }: Pick<Tool, 'command'>,
  folder: string,
  args: readonly string[],
): Promise<void> {
  const env = { ...cleanGitEnvironment(folder), ...command.env };
  await runProgram(command.file, [...command.args, ...args], { cwd: folder, env });
}

const git = { command: { file: 'git', args: [] } };

/** runGit runs git. */
export function runGit(folder: string, ...args: readonly string[]): Promise<void> {
  return runTool(git, folder, args);
}

/** copyDurably copies the files of a work tree into a data folder, and makes them durable. */
export function copyDurably(rsync: Tool, from: string, to: string): Promise<void> {
  return runTool(rsync, from, ['-a', '--fsync', '--exclude=.git', './', `${to}/`]);
}
