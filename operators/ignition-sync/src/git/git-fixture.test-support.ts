import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServedRepository } from '../../../../test/support/git/git-repositories.ts';
import { type GitServer, type GitServerOptions, startGitServer } from '../../../../test/support/git/git-server.ts';
import type { GitCredentials } from './access/git-credentials.ts';
import { type GitAccess, openAccess } from './access/open-access.ts';
import { parseGitUrl } from './address/git-url.ts';
import { GitRepository } from './repository/git-repository.ts';
import { GitRunner, type GitRunnerOptions } from './runner/git-runner.ts';

/** GitFixture is a served repository, and a local one that fetches from it. */
export interface GitFixture extends AsyncDisposable {
  readonly server: GitServer;
  readonly remote: ServedRepository;
  readonly runner: GitRunner;
  readonly local: GitRepository;
  /** The folder with everything that is local. */
  readonly folder: string;
  /** open opens access to the served repository, which is closed with the fixture. */
  open(credentials?: GitCredentials): Promise<GitAccess>;
}

/** gitFixture starts a server with an empty repository. */
export async function gitFixture(
  options: GitServerOptions & Omit<GitRunnerOptions, 'scratchFolder'> = {},
): Promise<GitFixture> {
  const server = await startGitServer(options);
  const remote = await server.repositories.create('plant.git');
  const folder = await mkdtemp(join(tmpdir(), 'bowline-git-local-'));
  const runner = await GitRunner.open({ ...options, scratchFolder: join(folder, 'scratch') });
  const local = await GitRepository.open(runner, join(folder, 'repo.git'));
  const opened: GitAccess[] = [];
  return {
    server,
    remote,
    runner,
    local,
    folder,
    async open(credentials = { type: 'none' }) {
      const url = parseGitUrl(`${server.url}/${remote.name}`);
      const access = await openAccess({ runner, url, credentials, ca: server.ca });
      opened.push(access);
      return access;
    },
    async [Symbol.asyncDispose]() {
      for (const access of opened) await access[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** contentOf reads one blob as text. */
export async function contentOf(local: GitRepository, hash: string): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const blob of local.readBlobs([hash])) for await (const chunk of blob.content) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** collect returns all items of an iterable. */
export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
