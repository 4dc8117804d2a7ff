import { describe, expect, it } from 'vitest';
import { availableGit, runGit } from '../../../../../test/support/git/git-program.ts';
import type { ServedRepository } from '../../../../../test/support/git/git-repositories.ts';
import type { TreeEntry } from '../../engine/tree/tree-entry.ts';
import { openAccess } from '../access/open-access.ts';
import { type GitUrl, parseGitUrl } from '../address/git-url.ts';
import { collect, contentOf, type GitFixture, gitFixture } from '../git-fixture.test-support.ts';
import { type ExpandedTree, expandSubmodules, MAX_DEPTH, MAX_SUBMODULES } from './expand-submodules.ts';
import { moduleUrl } from './module-url.ts';

describe('the address of a submodule', () => {
  it.each([
    ['https://h/team/plant.git', '../lib.git', 'https://h/team/lib.git'],
    ['https://h/team/plant.git/', './lib.git', 'https://h/team/plant.git/lib.git'],
    ['https://h/team/plant.git', '../../lib.git', 'https://h/lib.git'],
    ['https://h/team/plant.git', '../../../lib.git', undefined],
    ['https://h/team/plant.git', '../../..//other/lib.git', undefined],
    ['https://h/team/plant.git', 'https://h/lib.git', 'https://h/lib.git'],
    ['https://h/team/plant.git', 'https://h:443/lib.git', 'https://h:443/lib.git'],
    ['https://h/team/plant.git', 'https://h:8443/lib.git', undefined],
    ['https://h/team/plant.git', 'https://other/lib.git', undefined],
    ['https://h/team/plant.git', 'http://h/lib.git', undefined],
    ['https://h/team/plant.git', 'https://h@other/lib.git', undefined],
    ['https://h/team/plant.git', 'ssh://h/lib.git', undefined],
    ['https://h/team/plant.git', '/srv/lib.git', undefined],
    ['https://h/team/plant.git', 'file:///srv/lib.git', undefined],
    ['https://h/team/plant.git', 'ext::sh -c id', undefined],
    ['https://h/team/plant.git', '-x', undefined],
    ['https://h/team/plant.git', '../a/../../b', undefined],
    ['git@h:team/plant.git', '../lib.git', 'git@h:team/lib.git'],
    ['git@h:team/plant.git', '../../lib.git', 'git@h:lib.git'],
    ['git@h:team/plant.git', '../../../lib.git', undefined],
    ['git@h:team/plant.git', 'git@h:lib.git', 'git@h:lib.git'],
    ['git@h:team/plant.git', 'ssh://git@h/lib.git', 'ssh://git@h/lib.git'],
    ['git@h:team/plant.git', 'other@h:lib.git', undefined],
    ['git@h:team/plant.git', 'https://h/lib.git', undefined],
  ])('of %s at %s is %s', (parent, url, expected) => {
    expect(moduleUrl(parseGitUrl(parent), url)?.text).toBe(expected);
  });
});

const git = await availableGit();

/** link adds submodules to a repository, as `git submodule add` does. */
async function link(
  remote: ServedRepository,
  modules: Readonly<Record<string, { readonly url: string; readonly commit: string }>>,
  files: Readonly<Record<string, string>> = {},
): Promise<string> {
  const text = Object.entries(modules)
    .map(([path, { url }]) => `[submodule "${path}"]\n\tpath = ${path}\n\turl = ${url}\n`)
    .join('');
  const base = await remote.commit({ ...files, '.gitmodules': text });
  const parts = [
    `commit refs/heads/main\ncommitter test <test@example.com> 1767225600 +0000\ndata 6\nmodule\nfrom ${base}\n`,
    ...Object.entries(modules).map(([path, { commit }]) => `M 160000 ${commit} "${path}"\n`),
  ];
  await runGit(remote.folder, ['fast-import', '--quiet', '--force'], { input: Buffer.from(parts.join('')) });
  return await remote.git('rev-parse', 'refs/heads/main');
}

/** expand fetches a commit and expands its submodules. */
async function expand({ local, runner, server, remote, open }: GitFixture, commit: string): Promise<ExpandedTree> {
  await local.fetchCommit({ commit }, await open());
  const listed: TreeEntry[] = (await collect(local.listTree(commit))).map(({ path, mode, hash }) => ({
    path,
    mode,
    blob: hash,
  }));
  const fetch = async (url: GitUrl, work: (options: Awaited<ReturnType<typeof open>>) => Promise<void>) => {
    await using access = await openAccess({ runner, url, credentials: { type: 'none' }, ca: server.ca });
    await work(access);
  };
  const url = parseGitUrl(`${server.url}/${remote.name}`);
  const expanded = await expandSubmodules(local, listed, { commit, url, fetch });
  for (const { url: from, commit: of, blobs } of expanded.remotes)
    await fetch(from, async (options) => void (await local.fetchBlobs(blobs, { commit: of }, options)));
  return expanded;
}

if ('skippedBecause' in git) it.skip(`submodules: ${git.skippedBecause}`, () => undefined);
else {
  describe('expandSubmodules', () => {
    it('lists the files of submodules at their recorded commits, also of nested ones', async () => {
      await using fixture = await gitFixture();
      const { server, local, remote } = fixture;
      const inner = await server.repositories.create('inner.git');
      const innerCommit = await inner.commit({ 'script.py': 'inner' });
      const library = await server.repositories.create('library.git');
      const nested = { url: '../inner.git', commit: innerCommit };
      const recorded = await link(library, { 'deep/inner': nested }, { 'a.json': '{"recorded":true}' });
      // A newer commit of the submodule does not count.
      await library.commit({ 'a.json': '{"recorded":false}' });
      const url = `${server.url}/library.git`;
      const commit = await link(remote, { 'shared/library': { url, commit: recorded } }, { 'own.json': '{}' });
      const { entries, remotes } = await expand(fixture, commit);
      expect(entries.map(({ path, mode }) => `${mode} ${path}`).toSorted()).toEqual([
        '100644 .gitmodules',
        '100644 own.json',
        '100644 shared/library/.gitmodules',
        '100644 shared/library/a.json',
        '100644 shared/library/deep/inner/script.py',
      ]);
      const blobOf = (path: string): string => entries.find((entry) => entry.path === path)?.blob ?? '';
      expect(await contentOf(local, blobOf('shared/library/a.json'))).toBe('{"recorded":true}');
      expect(await contentOf(local, blobOf('shared/library/deep/inner/script.py'))).toBe('inner');
      expect(remotes.map((each) => [each.url.text, each.commit])).toEqual([
        [url, recorded],
        [`${server.url}/inner.git`, innerCommit],
      ]);
    });

    it('requests nothing for a commit without submodules', async () => {
      await using fixture = await gitFixture();
      const commit = await fixture.remote.commit({ 'own.json': '{}' });
      await fixture.local.fetchCommit({ commit }, await fixture.open());
      const before = fixture.server.requests.length;
      expect((await expand(fixture, commit)).remotes).toEqual([]);
      expect(fixture.server.requests.length).toBe(before);
    });

    it('refuses another origin before it connects to it, and a submodule without an address', async () => {
      await using fixture = await gitFixture();
      await using other = await gitFixture();
      const library = await other.server.repositories.create('library.git');
      const module = await library.commit({ 'a.json': '{}' });
      const url = `${other.server.url}/library.git`;
      const commit = await link(fixture.remote, { library: { url, commit: module } });
      const refusal = { reason: 'SubmoduleInRepository', path: 'library' };
      await expect(expand(fixture, commit)).rejects.toMatchObject(refusal);
      expect(other.server.requests).toEqual([]);
      const unnamed = await link(fixture.remote, { library: { url: '../library.git', commit: module } });
      const without = await fixture.remote.commit({ '.gitmodules': '[submodule "x"]\n\turl = ../library.git\n' });
      await expect(expand(fixture, without)).rejects.toMatchObject(refusal);
      const missing = await fixture.remote.commit({ '.gitmodules': null });
      await expect(expand(fixture, missing)).rejects.toMatchObject({ ...refusal, path: '.gitmodules' });
      // The repository exists at the same origin, but not there.
      await expect(expand(fixture, unnamed)).rejects.toMatchObject({ reason: 'RepositoryNotFound' });
    });

    it('refuses a repository that is its own submodule too many times', async () => {
      await using fixture = await gitFixture();
      const { remote } = fixture;
      let commit = await remote.commit({ 'own.json': '{}' });
      for (let depth = 0; depth <= MAX_DEPTH; depth++)
        commit = await link(remote, { again: { url: '../plant.git', commit } });
      await expect(expand(fixture, commit)).rejects.toMatchObject({
        reason: 'SubmoduleInRepository',
        path: Array.from({ length: MAX_DEPTH + 1 }, () => 'again').join('/'),
      });
    });

    it('refuses more than a maximum number of submodules', async () => {
      await using fixture = await gitFixture();
      const { remote, server } = fixture;
      const library = await server.repositories.create('library.git');
      const module = await library.commit({ 'a.json': '{}' });
      const many = Array.from({ length: MAX_SUBMODULES + 1 }, (_, index) => [
        `m${index}`,
        { url: '../library.git', commit: module },
      ]);
      const wide = await link(remote, Object.fromEntries(many));
      await expect(expand(fixture, wide)).rejects.toThrow(`more than ${MAX_SUBMODULES} submodules`);
    });
  });
}
