import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readTree } from './live-tree.ts';
import { type CaseOptions, type Folders, runCase } from './run-case.ts';

/** Few enough to be fast, and enough that every kind of tampering has something to change. */
const SEEDS = [1, 2, 3, 4, 5, 6];

async function violationsOf(options: CaseOptions): Promise<string> {
  const outcomes = await Promise.all(SEEDS.map((seed) => runCase(seed, options)));
  return outcomes.flatMap(({ violations }) => violations).join('\n');
}

const filesOf = ({ data }: Folders): string[] =>
  [...readTree(data, ['.ignition-sync'])].flatMap(([path, { kind }]) => (kind === 'file' ? [join(data, path)] : []));

describe('the model of a sync', () => {
  it('agrees with the engine', async () => {
    expect(await violationsOf({})).toBe('');
  });

  it('notices a file with other content', async () => {
    const tamper = (folders: Folders): void => {
      for (const file of filesOf(folders)) appendFileSync(file, '!');
    };
    expect(await violationsOf({ tamper })).toMatch(/has other content|outside the sync|refused sync changed/);
  });

  it('notices a file that is missing', async () => {
    const tamper = (folders: Folders): void => {
      for (const file of filesOf(folders).slice(0, 1)) rmSync(file);
    };
    expect(await violationsOf({ tamper })).toMatch(/was not placed|outside the sync|refused sync changed/);
  });

  it('notices a file that appears', async () => {
    const tamper = ({ data }: Folders): void => writeFileSync(join(data, 'new.txt'), '');
    expect(await violationsOf({ tamper })).toContain('new.txt appeared');
  });

  it('notices a backup that is missing', async () => {
    const tamper = ({ data }: Folders): void => {
      for (const [path, { kind }] of readTree(join(data, '.ignition-sync/replaced')))
        if (kind === 'file') rmSync(join(data, '.ignition-sync/replaced', path));
    };
    expect(await violationsOf({ tamper })).toContain('not backed up');
  });

  it('notices a change outside the data folder', async () => {
    const tamper = ({ outside }: Folders): void => writeFileSync(join(outside, 'file.txt'), 'escaped');
    expect(await violationsOf({ tamper })).toContain('outside the data folder');
  });
});
