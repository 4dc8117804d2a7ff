import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runGit } from './git-program.ts';

/** RepositoryFiles is the content of a commit by path. Null deletes a file; the rest of the tree stays. */
export type RepositoryFiles = Readonly<Record<string, string | Buffer | null>>;

/** CommitOptions describes a commit. */
export interface CommitOptions {
  /** Defaults to `main`. */
  readonly branch?: string;
  /** Whether the tree starts empty. Defaults to false: it starts with the files of the branch. */
  readonly fresh?: boolean;
}

/** ServedRepository is a bare repository that a test server serves. */
export interface ServedRepository {
  readonly name: string;
  readonly folder: string;
  /** commit adds a commit to a branch and returns its hash. */
  commit(files: RepositoryFiles, options?: CommitOptions): Promise<string>;
  /** git runs git in the repository. */
  git(...args: readonly string[]): Promise<string>;
}

/** GitRepositories is a temporary folder with bare repositories. */
export interface GitRepositories extends AsyncDisposable {
  readonly folder: string;
  create(name: string): Promise<ServedRepository>;
}

/** gitRepositories creates a folder for the repositories of a test server. */
export async function gitRepositories(): Promise<GitRepositories> {
  const folder = await mkdtemp(join(tmpdir(), 'bowline-git-'));
  return {
    folder,
    create: (name) => createRepository(folder, name),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

async function createRepository(root: string, name: string): Promise<ServedRepository> {
  const folder = join(root, name);
  await mkdir(folder, { recursive: true });
  await runGit(folder, ['init', '--quiet', '--bare', '--initial-branch=main', '.']);
  await runGit(folder, ['config', 'uploadpack.allowFilter', 'true']);
  await runGit(folder, ['config', 'http.receivepack', 'true']);
  return {
    name,
    folder,
    git: (...args) => runGit(folder, args),
    commit: (files, options = {}) => commitFiles(folder, files, options),
  };
}

/** commitFiles uses fast-import, which needs no working tree: a commit with thousands of files takes one process. */
async function commitFiles(folder: string, files: RepositoryFiles, options: CommitOptions): Promise<string> {
  const { branch = 'main', fresh = false } = options;
  const ref = `refs/heads/${branch}`;
  const parent = await runGit(folder, ['rev-parse', '--verify', '--quiet', ref]).catch(() => undefined);
  const parts: (string | Buffer)[] = [
    `commit ${ref}\ncommitter test <test@example.com> ${1_767_225_600} +0000\ndata 6\nchange\n`,
    parent === undefined ? '' : `from ${parent}\n`,
    fresh ? 'deleteall\n' : '',
  ];
  for (const [path, content] of Object.entries(files)) {
    const quoted = JSON.stringify(path);
    if (content === null) parts.push(`D ${quoted}\n`);
    else {
      const bytes = Buffer.from(content as string);
      parts.push(`M 100644 inline ${quoted}\ndata ${bytes.length}\n`, bytes, '\n');
    }
  }
  const input = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
  await runGit(folder, ['fast-import', '--quiet', '--force'], { input });
  return await runGit(folder, ['rev-parse', ref]);
}
