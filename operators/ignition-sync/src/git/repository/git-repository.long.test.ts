import { randomBytes } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { availableGit, runGit } from '../../../../../test/support/git/git-program.ts';
import { collect, contentOf, gitFixture } from '../git-fixture.test-support.ts';

const git = await availableGit();

const FILES = {
  'services/press/projects/line/project.json': '{"title":"line"}',
  'services/press/config/a.json': '{}',
  'services/oven/projects/oven/project.json': '{"title":"oven"}',
  'shared/ünïcode "name".txt': 'shared',
};

if ('skippedBecause' in git) it.skip(`GitRepository: ${git.skippedBecause}`, () => undefined);
else {
  describe('resolve', () => {
    it('resolves branches, tags before branches, peeled annotated tags, full names and hashes with one request', async () => {
      await using fixture = await gitFixture();
      const { remote, local, server } = fixture;
      const first = await remote.commit(FILES);
      const second = await remote.commit({ 'shared/b': 'b' });
      await remote.git('tag', '-a', '-m', 'release', 'v1', first);
      await remote.git('tag', 'both', first);
      await remote.git('branch', 'both', second);
      await remote.git('update-ref', 'refs/heads/refs/heads/main', first);
      const tag = await remote.git('rev-parse', 'refs/tags/v1');
      const { connection } = await fixture.open();
      const before = server.requests.length;
      const refs = [
        'main',
        'v1',
        'both',
        'refs/heads/both',
        'refs/tags/v1',
        first.toUpperCase(),
        'missing',
        '--exec=x',
      ];
      const resolved = await local.resolve(refs, { connection });
      expect(Object.fromEntries(resolved)).toEqual({
        main: { commit: second, name: 'refs/heads/main', tag: undefined },
        v1: { commit: first, name: 'refs/tags/v1', tag },
        both: { commit: first, name: 'refs/tags/both', tag: undefined },
        'refs/heads/both': { commit: second, name: 'refs/heads/both', tag: undefined },
        'refs/tags/v1': { commit: first, name: 'refs/tags/v1', tag },
        [first.toUpperCase()]: { commit: first, name: undefined, tag: undefined },
      });
      // The capabilities and the list of refs.
      expect(server.requests.length - before).toBe(2);
    });

    it('is RefNotFound for a ref that the server does not have, and for one that is not valid', async () => {
      await using fixture = await gitFixture();
      await fixture.remote.commit(FILES);
      const { connection } = await fixture.open();
      await expect(fixture.local.resolveRef('missing', { connection })).rejects.toMatchObject({
        message: `RefNotFound: ${fixture.server.host} has neither a tag nor a branch missing; push it, or correct spec.git.ref`,
      });
      await expect(fixture.local.resolveRef('--exec=x', { connection })).rejects.toMatchObject({
        reason: 'RefNotFound',
      });
    });

    it('asks no server about hashes', async () => {
      await using fixture = await gitFixture();
      const { connection } = await fixture.open();
      await fixture.local.resolve(['1'.repeat(40)], { connection });
      expect(fixture.server.requests).toEqual([]);
    });
  });

  describe('a commit', () => {
    it('is fetched by its hash without blobs, and again without a request', async () => {
      await using fixture = await gitFixture();
      const { remote, local, server } = fixture;
      const large = Buffer.alloc(300_000, 1);
      for (let index = 0; index < large.length; index++) large[index] = (index * index) % 251;
      const commit = await remote.commit({ ...FILES, 'large.bin': large });
      await remote.commit({ 'later.txt': 'later' });
      const { connection } = await fixture.open();
      expect(await local.hasCommit(commit)).toBe(false);
      await local.fetchCommit({ commit }, { connection });
      expect(await local.hasCommit(commit)).toBe(true);
      expect(server.sentBytes).toBeLessThan(5_000);
      const requests = server.requests.length;
      await local.fetchCommit({ commit }, { connection });
      expect(server.requests.length).toBe(requests);
    });

    it('lists its files below paths that begin with "-" or contain patterns literally', async () => {
      await using fixture = await gitFixture();
      const { remote, local } = fixture;
      const commit = await remote.commit({ ...FILES, '-x/a': 'a', '*/b': 'b', 'z/c': 'c' });
      const { connection } = await fixture.open();
      await local.fetchCommit({ commit }, { connection });
      const paths = async (...below: string[]): Promise<string[]> =>
        (await collect(local.listTree(commit, below))).map(({ path }) => path);
      expect(await paths()).toEqual(expect.arrayContaining([...Object.keys(FILES), '-x/a', '*/b', 'z/c']));
      expect(await paths('services/press')).toEqual([
        'services/press/config/a.json',
        'services/press/projects/line/project.json',
      ]);
      expect(await paths('-x', '*', ':(top)z')).toEqual(['*/b', '-x/a']);
    });

    it('has modes of links and submodules, and reports names that are not UTF-8', async () => {
      await using fixture = await gitFixture();
      const { remote, local } = fixture;
      await remote.commit(FILES);
      const blob = await remote.git('hash-object', '-w', '--stdin');
      const index = join(remote.folder, 'index');
      const sub = '2'.repeat(40);
      const env = { GIT_INDEX_FILE: index };
      const lines = [`120000 ${blob}\tlink`, `100755 ${blob}\trun`, `160000 ${sub}\tsub`, `100644 ${blob}\tbad-`];
      const input = Buffer.concat([Buffer.from(lines.join('\0')), Buffer.from([0xff, 0])]);
      await runGit(remote.folder, ['update-index', '-z', '--index-info'], { input, env });
      const tree = await runGit(remote.folder, ['write-tree', '--missing-ok'], { env });
      const commit = await remote.git('commit-tree', '-m', 'odd', tree);
      await remote.git('update-ref', 'refs/heads/main', commit);
      const { connection } = await fixture.open();
      await local.fetchCommit({ commit }, { connection });
      const entries = await collect(local.listTree(commit));
      expect(entries.map(({ path, mode, isValidText }) => [path, mode, isValidText])).toEqual([
        ['bad-\ufffd', '100644', false],
        ['link', '120000', true],
        ['run', '100755', true],
        ['sub', '160000', true],
      ]);
    });

    it('is CommitGone when the server does not have it', async () => {
      await using fixture = await gitFixture();
      await fixture.remote.commit(FILES);
      const { connection } = await fixture.open();
      await expect(fixture.local.fetchCommit({ commit: '3'.repeat(40) }, { connection })).rejects.toMatchObject({
        code: 'BOWLINE_GIT_OPERATION',
        reason: 'CommitGone',
      });
    });

    it('differs from another one without any blob', async () => {
      await using fixture = await gitFixture();
      const { remote, local } = fixture;
      const from = await remote.commit(FILES);
      const to = await remote.commit({
        'shared/new': 'n',
        'services/press/config/a.json': '{"a":1}',
        'services/oven/projects/oven/project.json': null,
      });
      const { connection } = await fixture.open();
      for (const commit of [from, to]) await local.fetchCommit({ commit }, { connection });
      const changes = await collect(local.diff(from, to));
      expect(changes.map(({ path, before, after }) => [path, before?.mode, after?.mode])).toEqual([
        ['services/oven/projects/oven/project.json', '100644', undefined],
        ['services/press/config/a.json', '100644', '100644'],
        ['shared/new', undefined, '100644'],
      ]);
      expect((await collect(local.diff(from, to, ['shared']))).length).toBe(1);
    });
  });

  describe('blobs', () => {
    it('are fetched in one round trip, only those that are needed and missing', async () => {
      await using fixture = await gitFixture();
      const { remote, local, server } = fixture;
      const commit = await remote.commit(FILES);
      const { connection } = await fixture.open();
      await local.fetchCommit({ commit }, { connection });
      const needed = (await collect(local.listTree(commit, ['services/press']))).map(({ hash }) => hash);
      const before = server.requests.length;
      expect(await local.fetchBlobs(needed, { commit }, { connection })).toBe(2);
      expect(server.requests.slice(before).map(({ method }) => method)).toEqual(['GET', 'POST']);
      expect(await local.fetchBlobs(needed, { commit }, { connection })).toBe(0);
      expect(server.requests.length).toBe(before + 2);
      const contents = await Promise.all(needed.map((hash) => contentOf(local, hash)));
      expect(contents).toEqual(['{}', '{"title":"line"}']);
      const [other] = await collect(local.listTree(commit, ['services/oven']));
      await expect(contentOf(local, other?.hash ?? '')).rejects.toMatchObject({ reason: 'CommitGone' });
    });

    it('are read in order, whole, in parts or not at all', async () => {
      await using fixture = await gitFixture();
      const { remote, local } = fixture;
      const big = Buffer.alloc(3_000_000, 'abcdefghij\n');
      const commit = await remote.commit({ a: big, b: '', c: 'last\n' });
      const { connection } = await fixture.open();
      await local.fetchCommit({ commit }, { connection });
      const hashes = (await collect(local.listTree(commit))).map(({ hash }) => hash);
      await local.fetchBlobs(hashes, { commit }, { connection });
      const sizes: number[] = [];
      let last = '';
      for await (const { size, content } of local.readBlobs(hashes)) {
        sizes.push(size);
        for await (const chunk of content) {
          if (size < 100) last += chunk.toString();
          else break;
        }
      }
      expect([sizes, last]).toEqual([[3_000_000, 0, 5], 'last\n']);
      for await (const blob of local.readBlobs(hashes)) {
        expect(blob.hash).toBe(hashes[0]);
        break;
      }
    });
  });

  it('holds neither a pack nor a file in memory', async () => {
    // The limit of the runner is the check: git ends with TooLarge if it, with its helpers, needs more than a large file has.
    await using fixture = await gitFixture({ maxMemoryMiB: 20 });
    const { remote, local } = fixture;
    // The server must not spend its time on compressing noise.
    await remote.git('config', 'core.bigFileThreshold', '1k');
    await remote.git('config', 'core.compression', '0');
    const commit = await remote.commit({ large: randomBytes(16 * 2 ** 20), other: 'small' });
    const { connection } = await fixture.open();
    await local.fetchCommit({ commit }, { connection });
    const hashes = (await collect(local.listTree(commit))).map(({ hash }) => hash);
    await local.fetchBlobs(hashes, { commit }, { connection });
    let largest = 0;
    for await (const { content } of local.readBlobs(hashes)) {
      for await (const chunk of content) largest = Math.max(largest, chunk.length);
    }
    expect(largest).toBeLessThanOrEqual(2 ** 20);
  });

  describe('a server with fewer features', () => {
    it('that does not filter sends everything at once', async () => {
      await using fixture = await gitFixture();
      const { remote, local, server } = fixture;
      await remote.git('config', 'uploadpack.allowFilter', 'false');
      const commit = await remote.commit(FILES);
      const { connection } = await fixture.open();
      await local.fetchCommit({ commit }, { connection });
      const requests = server.requests.length;
      const hashes = (await collect(local.listTree(commit))).map(({ hash }) => hash);
      expect(await local.fetchBlobs(hashes, { commit }, { connection })).toBe(0);
      expect(server.requests.length).toBe(requests);
      expect(await contentOf(local, hashes[0] ?? '')).toBe('{"title":"oven"}');
    });

    it('without protocol v2 serves an annotated tag by its name, and the result is compared with the hash', async () => {
      await using fixture = await gitFixture();
      const { remote, local, server } = fixture;
      server.protocolV2 = false;
      const commit = await remote.commit(FILES);
      await remote.git('tag', '-a', '-m', 'one', 'v1', commit);
      const later = await remote.commit({ 'shared/b': 'b' });
      const { connection } = await fixture.open();
      const resolved = (await local.resolve(['v1'], { connection })).get('v1');
      expect(resolved?.commit).toBe(commit);
      await local.fetchCommit({ commit, name: 'refs/tags/v1' }, { connection });
      expect(await local.hasCommit(commit)).toBe(true);
      const hashes = (await collect(local.listTree(commit))).map(({ hash }) => hash);
      await local.fetchBlobs(hashes, { commit, name: 'refs/tags/v1' }, { connection });
      expect(await contentOf(local, hashes[0] ?? '')).toBe('{"title":"oven"}');
      await remote.commit({ 'shared/c': 'c' });
      await expect(local.fetchCommit({ commit: later, name: 'refs/heads/main' }, { connection })).rejects.toMatchObject(
        {
          reason: 'CommitGone',
        },
      );
      expect(await local.hasCommit(later)).toBe(false);
    });
  });

  it('writes nothing about the remote to disk', async () => {
    await using fixture = await gitFixture({ auth: { username: 'bot', password: 'canary-token' } });
    const { remote, local } = fixture;
    const commit = await remote.commit(FILES);
    const { connection } = await fixture.open({ type: 'token', username: 'bot', token: 'canary-token' });
    await local.fetchCommit({ commit }, { connection });
    const hashes = (await collect(local.listTree(commit))).map(({ hash }) => hash);
    await local.fetchBlobs(hashes, { commit }, { connection });
    expect(await readFile(join(local.folder, 'config'), 'utf8')).toBe(
      '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n',
    );
    const basic = Buffer.from('bot:canary-token').toString('base64');
    for (const entry of await readdir(fixture.folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const text = await readFile(join(entry.parentPath, entry.name), 'latin1');
      expect(text.includes('canary-token') || text.includes(basic), entry.name).toBe(false);
    }
  });

  it('fetches after a process was killed and left its locks and partial packs', async () => {
    await using fixture = await gitFixture();
    const { remote, local } = fixture;
    const commit = await remote.commit(FILES);
    const leftovers = ['shallow.lock', 'objects/pack/tmp_pack_abc', 'packed-refs.lock'].map((name) =>
      join(local.folder, name),
    );
    for (const path of leftovers) await writeFile(path, 'partial');
    const { connection } = await fixture.open();
    await local.fetchCommit({ commit }, { connection });
    for (const path of leftovers) await expect(stat(path)).rejects.toThrow('ENOENT');
  });

  it('keeps the last three commits, and reclaims the space of the others', async () => {
    await using fixture = await gitFixture();
    const { remote, local } = fixture;
    const { connection } = await fixture.open();
    const commits: string[] = [];
    for (let index = 0; index < 6; index++) {
      // The content of the first three does not compress, and is most of the space.
      const noise = index < 3 ? randomBytes(100_000) : Buffer.from(`small ${index}`);
      const commit = await remote.commit({ 'noise.txt': noise, 'same.txt': 'same' });
      commits.push(commit);
      await local.fetchCommit({ commit }, { connection });
      const hashes = (await collect(local.listTree(commit))).map(({ hash }) => hash);
      await local.fetchBlobs(hashes, { commit }, { connection });
    }
    const sizeOf = async (): Promise<number> => {
      const folder = join(local.folder, 'objects', 'pack');
      const sizes = (await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size);
      return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    };
    const [oldest = '', , , , , newest = ''] = commits;
    const before = await sizeOf();
    await local.prune([]);
    expect(await Promise.all(commits.map((commit) => local.hasCommit(commit)))).toEqual([
      false,
      false,
      false,
      true,
      true,
      true,
    ]);
    expect(before).toBeGreaterThan(300_000);
    expect(await sizeOf()).toBeLessThan(20_000);
    // What is left works, and old commits can be fetched again.
    const [file] = await collect(local.listTree(newest, ['same.txt']));
    expect(await contentOf(local, file?.hash ?? '')).toBe('same');
    await local.fetchCommit({ commit: oldest }, { connection });
    expect((await collect(local.listTree(oldest))).length).toBe(2);
  });
}
