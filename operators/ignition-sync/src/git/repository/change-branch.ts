import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GitError } from '../errors/git-error.ts';
import type { GitConnection } from '../runner/git-connection.ts';
import type { GitCommand, GitRunner } from '../runner/git-runner.ts';

/** FileChange is a change of one file of a commit. */
export interface FileChange {
  readonly path: string;
  /** Undefined: the file is deleted. */
  readonly content: Buffer | undefined;
  readonly isExecutable: boolean;
}

/** NewCommit describes a commit. The same description has the same hash. */
export interface NewCommit {
  /** The parent, whose trees were fetched. */
  readonly parent: string;
  readonly changes: readonly FileChange[];
  readonly message: string;
  readonly author: { readonly name: string; readonly email: string };
  /** In seconds since the epoch. */
  readonly time: number;
}

/** PushRequest describes a push. */
export interface PushRequest {
  readonly commit: string;
  readonly branch: string;
  /** The commit that the branch must have at the server. Undefined: the branch must not exist. */
  readonly expected: string | undefined;
  readonly connection: GitConnection;
  readonly signal?: AbortSignal | undefined;
}

const ABSENT = '0'.repeat(40);

/** createCommit adds a commit with changed files to a repository. It needs no blobs of the parent, and no working tree. */
export async function createCommit(
  runner: GitRunner,
  gitDir: string,
  { parent, changes, message, author, time }: NewCommit,
  signal?: AbortSignal,
): Promise<string> {
  await using scratch = await runner.scratch();
  const blobs = await writeBlobs(runner, { gitDir, signal }, scratch.path, changes);
  // A temporary index: the repository has none, and another operation may need one at the same time.
  const local = { gitDir, signal, env: { GIT_INDEX_FILE: join(scratch.path, 'index') } };
  await runner.run({ ...local, args: ['read-tree'], operands: [parent] });
  const input = changes.map(({ path, content, isExecutable }, index) => {
    const mode = content === undefined ? '0' : isExecutable ? '100755' : '100644';
    return `${mode} ${blobs[index] ?? ABSENT}\t${path}\0`;
  });
  await runner.run({ ...local, args: ['update-index', '-z', '--index-info'], input });
  const tree = (await runner.run({ ...local, args: ['write-tree', '--missing-ok'] })).trim();
  const date = `@${time} +0000`;
  const env = {
    GIT_AUTHOR_NAME: plain(author.name),
    GIT_AUTHOR_EMAIL: plain(author.email),
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_NAME: 'ignition-sync',
    GIT_COMMITTER_EMAIL: plain(author.email),
    GIT_COMMITTER_DATE: date,
  };
  const args = ['commit-tree', '-p', parent, '-F', '-', tree];
  return (await runner.run({ gitDir, signal, env, args, input: message })).trim();
}

/** readMessage returns the message of a commit that was fetched. */
export async function readMessage(
  runner: GitRunner,
  gitDir: string,
  commit: string,
  signal?: AbortSignal,
): Promise<string> {
  const args = ['log', '-1', '--no-show-signature', '--format=%B'];
  return await runner.run({ gitDir, signal, args, operands: [commit] });
}

/** pushBranch pushes a commit to a branch that must still be what it was. It throws PushRefused if the server refuses it. */
export async function pushBranch(runner: GitRunner, gitDir: string, request: PushRequest): Promise<void> {
  const { commit, branch, expected = '', connection, signal } = request;
  const ref = `refs/heads/${branch}`;
  const command: GitCommand = {
    gitDir,
    connection,
    signal,
    // The parent is in the history of another branch, which the server does not advertise by itself.
    settings: [['push.negotiate', 'true']],
    args: ['push', '--porcelain', '--no-verify', '--no-follow-tags', `--force-with-lease=${ref}:${expected}`],
    operands: ['origin', `${commit}:${ref}`],
  };
  const lines: string[] = [];
  try {
    for await (const line of runner.records(command, '\n')) lines.push(line.toString('utf8'));
  } catch (error) {
    throw refusal(error, { branch, host: connection.host, isRejected: lines.some((line) => line.startsWith('!\t')) });
  }
}

async function writeBlobs(
  runner: GitRunner,
  local: Pick<GitCommand, 'gitDir' | 'signal'>,
  folder: string,
  changes: readonly FileChange[],
): Promise<readonly (string | undefined)[]> {
  const paths: string[] = [];
  for (const [index, { content }] of changes.entries()) {
    if (content === undefined) continue;
    const path = join(folder, String(index));
    await writeFile(path, content, { mode: 0o600 });
    paths.push(path);
  }
  if (paths.length === 0) return [];
  const args = ['hash-object', '-w', '--no-filters', '--stdin-paths'];
  const output = await runner.run({ ...local, args, input: paths.map((path) => `${path}\n`) });
  const hashes = output.trim().split('\n').values();
  return changes.map(({ content }) => (content === undefined ? undefined : hashes.next().value));
}

/** git takes these characters for the end of a name. */
function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these are replaced.
  return text.replace(/[<>\u0000-\u001f\u007f]/g, '_');
}

function refusal(
  error: unknown,
  { branch, host, isRejected }: { readonly branch: string; readonly host: string; readonly isRejected: boolean },
): unknown {
  if (isRejected) {
    const remedy = 'it is tried again; if this persists, allow the credentials to push to it, or change targetBranch';
    return new GitError('PushRefused', `${host} rejected the push to ${branch}`, { host, remedy });
  }
  const isForbidden =
    error instanceof GitError && ['AuthenticationFailed', 'RepositoryNotFound'].includes(error.reason);
  if (!isForbidden) return error;
  const remedy = 'use credentials in git.auth that may write, or disable bidirectional';
  return new GitError('PushRefused', `${host} does not allow the credentials to push`, { host, remedy });
}
