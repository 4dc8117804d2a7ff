import { describe, expect, it } from 'vitest';
import { availableGit } from '../../../../../test/support/git/git-program.ts';
import { type GitFixture, gitFixture } from '../git-fixture.test-support.ts';
import { createCommit, type FileChange, pushBranch, readMessage } from './change-branch.ts';

const git = await availableGit();
const AUTHOR = { name: 'site <x>', email: 'ignition-sync@plant' };
const TIME = 1_767_225_600;
const put = (path: string, content: string | Buffer, isExecutable = false): FileChange => ({
  path,
  content: Buffer.from(content),
  isExecutable,
});
const removed = (path: string): FileChange => ({ path, content: undefined, isExecutable: false });

async function fetched(fixture: GitFixture, commit: string) {
  const access = await fixture.open();
  await fixture.local.fetchCommit({ commit }, access);
  return access.connection;
}

const commitOn = ({ runner, local }: GitFixture, parent: string, changes: readonly FileChange[]): Promise<string> =>
  createCommit(runner, local.folder, { parent, changes, message: 'change\n\nOf: site\n', author: AUTHOR, time: TIME });

if ('skippedBecause' in git) it.skip(`changes of gateways: ${git.skippedBecause}`, () => undefined);
else {
  describe('a commit with changes of a gateway', () => {
    it('changes, adds and deletes files on top of a commit without its blobs, and is pushed', async () => {
      await using fixture = await gitFixture();
      const { remote, runner, local, server } = fixture;
      const large = Buffer.alloc(2_000_000, 'untouched');
      const parent = await remote.commit({
        'a/one.json': '{}',
        'a/two.json': '{}',
        'large.bin': large,
        'ünï code': 'x',
      });
      const connection = await fetched(fixture, parent);
      const binary = Buffer.from([0, 1, 2, 255, 10]);
      const changes = [
        put('a/one.json', '{"changed":1}'),
        removed('a/two.json'),
        put('b/new "file".bin', binary, true),
      ];
      const commit = await commitOn(fixture, parent, changes);
      expect(await commitOn(fixture, parent, changes)).toBe(commit);
      const sent = server.sentBytes;
      await pushBranch(runner, local.folder, { commit, branch: 'gateway/site', expected: undefined, connection });
      // No blob of the parent was fetched for it.
      expect(server.sentBytes - sent).toBeLessThan(100_000);
      const files = await remote.git('ls-tree', '-r', '-z', 'gateway/site');
      expect(
        files
          .split('\0')
          .filter(Boolean)
          .map((line) => line.replace(/ blob \w+\t/, ' '))
          .toSorted(),
      ).toEqual(['100644 a/one.json', '100644 large.bin', '100644 ünï code', '100755 b/new "file".bin']);
      expect(await remote.git('show', 'gateway/site:a/one.json')).toBe('{"changed":1}');
      expect(await remote.git('rev-parse', 'gateway/site^')).toBe(parent);
      expect(await remote.git('log', '-1', '--format=%an|%ae|%cn|%at', 'gateway/site')).toBe(
        `site _x_|ignition-sync@plant|ignition-sync|${TIME}`,
      );
      expect(await readMessage(runner, local.folder, commit)).toContain('Of: site');
    });

    it('is pushed on top of a commit that is no longer the head of any branch', async () => {
      await using fixture = await gitFixture();
      const { remote, runner, local } = fixture;
      const parent = await remote.commit({ 'a.json': '{}', 'b.bin': Buffer.alloc(500_000, 'b') });
      const connection = await fetched(fixture, parent);
      await remote.commit({ 'a.json': '{"newer":1}' });
      const commit = await commitOn(fixture, parent, [put('a.json', '{"gateway":1}')]);
      await pushBranch(runner, local.folder, { commit, branch: 'x', expected: undefined, connection });
      expect(await remote.git('rev-parse', 'x')).toBe(commit);
    });

    it('replaces its branch only if nobody else has changed it', async () => {
      await using fixture = await gitFixture();
      const { remote, runner, local } = fixture;
      const parent = await remote.commit({ 'a.json': '{}' });
      const connection = await fetched(fixture, parent);
      const push = (commit: string, expected: string | undefined): Promise<void> =>
        pushBranch(runner, local.folder, { commit, branch: 'x', expected, connection });
      const first = await commitOn(fixture, parent, [put('a.json', '1')]);
      const second = await commitOn(fixture, parent, [put('a.json', '2')]);
      await push(first, undefined);
      await expect(push(second, undefined)).rejects.toMatchObject({ reason: 'PushRefused' });
      await push(second, first);
      const foreign = await remote.commit({ 'a.json': 'of a user' }, { branch: 'x' });
      await expect(push(first, second)).rejects.toMatchObject({ reason: 'PushRefused' });
      expect(await remote.git('rev-parse', 'x')).toBe(foreign);
    });

    it('is PushRefused with credentials that may only read', async () => {
      await using fixture = await gitFixture();
      const { remote, runner, local } = fixture;
      const parent = await remote.commit({ 'a.json': '{}' });
      const connection = await fetched(fixture, parent);
      await remote.git('config', 'http.receivepack', 'false');
      const commit = await commitOn(fixture, parent, [put('a.json', '1')]);
      const push = pushBranch(runner, local.folder, { commit, branch: 'x', expected: undefined, connection });
      await expect(push).rejects.toMatchObject({
        reason: 'PushRefused',
        message: expect.stringContaining('use credentials in git.auth that may write'),
      });
    });
  });
}
