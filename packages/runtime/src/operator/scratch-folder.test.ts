import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { s } from '@bowline/machinery/schema';
import { describe, expect, it, onTestFinished } from 'vitest';
import { defineOperator } from './operator.ts';
import { openScratchFolder } from './scratch-folder.ts';
import { withConfig } from './with-config.ts';

const services = [{ name: 'idle', run: async () => {} }];

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'bowline-scratch-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

describe('openScratchFolder', () => {
  it('creates a temporary folder that only its user can read, and removes it with its content', async () => {
    const { path, remove } = await openScratchFolder('git', undefined);
    expect((await stat(path)).mode & 0o777).toBe(0o700);
    await writeFile(join(path, 'clone'), 'x');
    await remove();
    await expect(stat(path)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('uses a folder below the one that is provided, and keeps it', async () => {
    const parent = await temporaryFolder();
    const first = await openScratchFolder('git', parent);
    await writeFile(join(first.path, 'clone'), 'x');
    await first.remove();
    const { path } = await openScratchFolder('git', parent);
    expect([path, await readdir(path)]).toEqual([join(parent, 'git'), ['clone']]);
  });

  it('names the setting if the folder cannot be created', async () => {
    const file = join(await temporaryFolder(), 'file');
    await writeFile(file, '');
    await expect(openScratchFolder('git', file)).rejects.toMatchObject({
      code: 'BOWLINE_SCRATCH_FOLDER',
      message: expect.stringMatching(/cannot create the scratch folder of the operator git .*set scratchFolder/),
    });
  });
});

describe('scratchFolder', () => {
  it('has the size limit that the configuration requires', async () => {
    const operator = defineOperator({
      name: 'git',
      domain: 'example.com',
      config: s.object({ maxMiB: s.integer().default(100) }),
      scratchFolder: { sizeLimit: ({ maxMiB }) => `${maxMiB}Mi` },
      services,
    });
    expect((await withConfig(operator, { maxMiB: 7 })).scratchFolder).toEqual({ sizeLimit: '7Mi' });
    await expect(withConfig(operator, { maxMiB: 0 })).rejects.toThrow(/size limit "0Mi" .* must be a quantity above 0/);
  });

  it.each([
    ['git', 'plenty', /the size limit "plenty" of its scratch folder must be a quantity/],
    ['g'.repeat(56), '1Gi', /needs a name of at most 55 characters/],
  ])('is refused for the operator %s with %s', (name, sizeLimit, message) => {
    expect(() => defineOperator({ name, domain: 'a.io', scratchFolder: { sizeLimit }, services })).toThrow(message);
  });
});
