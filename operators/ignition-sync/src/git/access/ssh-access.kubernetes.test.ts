import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runProgram } from '../../../../../bench/support/run-program.ts';
import { ensureOpenSsh } from '../../../../../test/support/git/ensure-openssh.ts';
import { availableGit } from '../../../../../test/support/git/git-program.ts';
import { type RunningSshd, startSshd } from '../../../../../test/support/git/start-sshd.ts';
import { parseGitUrl } from '../address/git-url.ts';
import { collect, contentOf } from '../git-fixture.test-support.ts';
import { GitRepository } from '../repository/git-repository.ts';
import { GitRunner } from '../runner/git-runner.ts';
import type { GitCredentials } from './git-credentials.ts';
import { type GitAccess, openAccess } from './open-access.ts';

const git = await availableGit();
const openSsh = await ensureOpenSsh();

async function localRepository() {
  const folder = await mkdtemp(join(tmpdir(), 'bowline-ssh-local-'));
  const runner = await GitRunner.open({ scratchFolder: join(folder, 'scratch') });
  const local = await GitRepository.open(runner, join(folder, 'repo.git'));
  return { folder, runner, local, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

async function served() {
  if ('skippedBecause' in openSsh) throw new Error(openSsh.skippedBecause);
  const sshd = await startSshd(openSsh);
  const remote = await sshd.repositories.create('plant.git');
  const commit = await remote.commit({ a: 'over ssh' });
  return { sshd, remote, commit, [Symbol.asyncDispose]: () => sshd[Symbol.asyncDispose]() };
}

function accessTo(sshd: RunningSshd, runner: GitRunner, more: Partial<GitCredentials> = {}): Promise<GitAccess> {
  const credentials = { type: 'ssh', privateKey: sshd.clientKey, knownHosts: undefined, ...more } as GitCredentials;
  return openAccess({ runner, url: parseGitUrl(sshd.urlOf('plant.git')), credentials });
}

const missing = [git, openSsh].find((each) => 'skippedBecause' in each);
if (missing && 'skippedBecause' in missing) it.skip(`SSH access: ${missing.skippedBecause}`, () => undefined);
else {
  describe('SSH access to a real sshd', () => {
    it('fetches a commit and its blobs with known hosts', async () => {
      await using server = await served();
      await using here = await localRepository();
      const { local, runner } = here;
      const { commit, sshd } = server;
      await using access = await accessTo(sshd, runner, { knownHosts: (await sshd.knownHosts()).join('\n') });
      expect((await local.resolve(['main'], access)).get('main')?.commit).toBe(commit);
      await local.fetchCommit({ commit }, access);
      const hashes = (await collect(local.listTree(commit))).map(({ hash }) => hash);
      expect(await local.fetchBlobs(hashes, { commit }, access)).toBe(1);
      expect(await contentOf(local, hashes[0] ?? '')).toBe('over ssh');
      expect(await access.hostKeys()).toEqual([]);
    });

    it('returns the key that it trusted on first use, and refuses another one later, before it sends anything', async () => {
      await using server = await served();
      await using here = await localRepository();
      const { local, runner } = here;
      const { sshd } = server;
      await using first = await accessTo(sshd, runner);
      await local.resolve(['main'], first);
      const pinned = await first.hostKeys();
      expect(pinned.length).toBe(1);
      expect(await sshd.knownHosts()).toContain(pinned[0]);
      await using second = await accessTo(sshd, runner, { knownHosts: pinned.join('\n') });
      await local.resolve(['main'], second);
      await sshd.replaceHostKeys();
      await expect(local.resolve(['main'], second)).rejects.toMatchObject({
        reason: 'HostKeyChanged',
        message: expect.stringContaining(`the host key of ${sshd.host} is not the pinned or known one`),
      });
    });

    it('is HostKeyChanged for a host that the known hosts do not contain', async () => {
      await using server = await served();
      await using here = await localRepository();
      await using access = await accessTo(server.sshd, here.runner, {
        knownHosts: 'other.example.com ssh-ed25519 AAAA',
      });
      await expect(here.local.resolve(['main'], access)).rejects.toMatchObject({ reason: 'HostKeyChanged' });
    });

    it('keeps the key in a private file, which is removed, and accepts one with the line ends of Windows', async () => {
      await using server = await served();
      await using here = await localRepository();
      const privateKey = server.sshd.clientKey.trimEnd().replaceAll('\n', '\r\n');
      const access = await accessTo(server.sshd, here.runner, { privateKey });
      const scratch = here.runner.scratchFolder;
      const keys = (await readdir(scratch, { recursive: true })).filter((name) => name.endsWith('/key'));
      expect(keys.length).toBe(1);
      expect((await stat(join(scratch, keys[0] ?? ''))).mode & 0o777).toBe(0o600);
      await here.local.resolve(['main'], access);
      expect(await readFile(join(here.local.folder, 'config'), 'utf8')).not.toContain('ssh');
      await access[Symbol.asyncDispose]();
      expect((await readdir(scratch)).filter((name) => name.startsWith('git-'))).toEqual([]);
    });

    it('is AuthenticationFailed with another key, without one, or with a text that is no key', async () => {
      await using server = await served();
      await using here = await localRepository();
      const file = join(here.folder, 'other');
      await runProgram('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file], {
        cwd: here.folder,
        env: process.env,
      });
      for (const privateKey of [await readFile(file, 'utf8'), 'no key']) {
        await using access = await accessTo(server.sshd, here.runner, { privateKey });
        await expect(here.local.resolve(['main'], access)).rejects.toMatchObject({ reason: 'AuthenticationFailed' });
      }
      await using none = await openAccess({
        runner: here.runner,
        url: parseGitUrl(server.sshd.urlOf('plant.git')),
        credentials: { type: 'none' },
      });
      await expect(here.local.resolve(['main'], none)).rejects.toMatchObject({ reason: 'AuthenticationFailed' });
    });

    it('is RepositoryNotFound for a path without a repository, and HostUnreachable when nothing listens', async () => {
      await using server = await served();
      await using here = await localRepository();
      const { runner, local } = here;
      const credentials = { type: 'ssh', privateKey: server.sshd.clientKey, knownHosts: undefined } as const;
      const cases = [
        [server.sshd.urlOf('missing.git'), 'RepositoryNotFound'],
        ['ssh://git@127.0.0.1:9/a.git', 'HostUnreachable'],
      ] as const;
      for (const [address, reason] of cases) {
        await using access = await openAccess({ runner, url: parseGitUrl(address), credentials });
        await expect(local.resolve(['main'], access)).rejects.toMatchObject({ reason });
      }
    });
  });
}
