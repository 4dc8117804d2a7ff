import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { RepositoryFolders } from './repository-folders.ts';

async function workFolder() {
  const path = await mkdtemp(join(tmpdir(), 'bowline-folders-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

const waiting = { timeout: 5_000, interval: 5 };

async function fill(folders: RepositoryFolders, source: string): Promise<Disposable> {
  const folder = await folders.borrow(source);
  await mkdir(folder.path, { recursive: true });
  return folder;
}

it('removes the folder of a source that no IgnitionSync uses any more', async () => {
  await using work = await workFolder();
  await using folders = await RepositoryFolders.open(work.path);
  folders.use('1', 'a');
  folders.use('2', 'a');
  (await fill(folders, 'a'))[Symbol.dispose]();
  folders.use('1', 'b');
  expect(await readdir(folders.root)).toEqual(['a.git']);
  folders.release('2');
  await expect.poll(() => readdir(folders.root), waiting).toEqual([]);
});

it('keeps a folder while an operation works in it', async () => {
  await using work = await workFolder();
  await using folders = await RepositoryFolders.open(work.path);
  folders.use('1', 'a');
  const borrowed = await fill(folders, 'a');
  folders.release('1');
  expect(await readdir(folders.root)).toEqual(['a.git']);
  borrowed[Symbol.dispose]();
  await expect.poll(() => readdir(folders.root), waiting).toEqual([]);
});

it('lets a source that is used again wait for its removal', async () => {
  await using work = await workFolder();
  await using folders = await RepositoryFolders.open(work.path);
  folders.use('1', 'a');
  (await fill(folders, 'a'))[Symbol.dispose]();
  folders.release('1');
  folders.use('2', 'a');
  using _again = await fill(folders, 'a');
  expect(await readdir(folders.root)).toEqual(['a.git']);
});

it('removes what processes that have ended left, and nothing else', async () => {
  await using work = await workFolder();
  // No process has this id: it is larger than the maximum of Linux.
  for (const name of ['manager-4194305', `manager-${process.ppid}`, 'other']) await mkdir(join(work.path, name));
  const folders = await RepositoryFolders.open(work.path);
  expect((await readdir(work.path)).sort()).toEqual(
    [`manager-${process.pid}`, `manager-${process.ppid}`, 'other'].sort(),
  );
  await folders[Symbol.asyncDispose]();
  expect((await readdir(work.path)).sort()).toEqual([`manager-${process.ppid}`, 'other'].sort());
});
