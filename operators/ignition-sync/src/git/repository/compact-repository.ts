import { randomBytes } from 'node:crypto';
import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GitRunner } from '../runner/git-runner.ts';

/** CompactOptions names the repository. */
export interface CompactOptions {
  readonly gitDir: string;
  readonly signal?: AbortSignal | undefined;
}

/** Space is reclaimed when less than this share of the repository is in use. */
const LIVE_SHARE = 0.5;

/**
 * compactRepository removes the objects that no ref needs, if they take more space than the others, and returns whether it did.
 * `git gc` cannot do this: it keeps every object that came from a promisor remote, needed or not. So the live objects are written
 * to a new pack, and the old packs are deleted. A process that is reading finds the objects in the new pack.
 */
export async function compactRepository(runner: GitRunner, options: CompactOptions): Promise<boolean> {
  const packs = join(options.gitDir, 'objects', 'pack');
  const before = await packsIn(packs);
  const used = before.reduce((sum, pack) => sum + pack.size, 0);
  if (used * LIVE_SHARE <= (await liveBytes(runner, options))) return false;
  const output = await runner.run({
    ...options,
    args: ['pack-objects', '-q', '--delta-base-offset', '--non-empty', join(packs, 'pack')],
    input: liveObjects(runner, options),
  });
  const name = `pack-${output.trim()}`;
  if (output.trim() !== '') await writeFile(join(packs, `${name}.promisor`), '');
  for (const pack of before.filter((each) => each.name !== name)) {
    // The index first: git looks for packs by their index.
    for (const ending of ['idx', 'rev', 'promisor', 'pack'])
      await rm(join(packs, `${pack.name}.${ending}`), { force: true });
  }
  await forgetOldCommits(runner, options);
  return true;
}

async function packsIn(folder: string): Promise<readonly { readonly name: string; readonly size: number }[]> {
  const names = (await readdir(folder)).filter((name) => name.startsWith('pack-') && name.endsWith('.pack'));
  return await Promise.all(
    names.map(async (name) => ({ name: name.slice(0, -5), size: (await stat(join(folder, name))).size })),
  );
}

/** liveObjects yields the objects that refs need and that have been fetched, one per line. */
async function* liveObjects(runner: GitRunner, options: CompactOptions): AsyncGenerator<string> {
  const args = ['rev-list', '--objects', '--no-object-names', '--missing=print', '--glob=refs/ignition-sync/*'];
  for await (const record of runner.records({ ...options, args }, '\n')) {
    const hash = record.toString('latin1');
    // A missing object begins with a question mark.
    if (!hash.startsWith('?')) yield `${hash}\n`;
  }
}

async function liveBytes(runner: GitRunner, options: CompactOptions): Promise<number> {
  const args = ['cat-file', '--batch-check=%(objectsize:disk)', '--buffer'];
  let sum = 0;
  for await (const record of runner.records({ ...options, args, input: liveObjects(runner, options) }, '\n')) {
    sum += Number(record.toString('latin1')) || 0;
  }
  return sum;
}

/** forgetOldCommits removes commits that no longer exist from the list of commits without parents. */
async function forgetOldCommits(runner: GitRunner, options: CompactOptions): Promise<void> {
  const file = join(options.gitDir, 'shallow');
  const commits = (await readFile(file, 'utf8').catch(() => '')).split('\n').filter(Boolean);
  const kept: string[] = [];
  const args = ['cat-file', '--batch-check=%(objectname)'];
  for await (const record of runner.records({ ...options, args, input: commits.map((each) => `${each}\n`) }, '\n')) {
    const line = record.toString('latin1');
    if (!line.includes(' ')) kept.push(`${line}\n`);
  }
  const temporary = `${file}.${randomBytes(6).toString('hex')}`;
  await writeFile(temporary, kept.join(''));
  await rename(temporary, file);
}
