import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { bundleWithInputs } from '../bundle.mjs';
import { repositoryRoot } from '../repository.ts';
import { bundledPackages, licenceTextOf } from './bundled-packages.ts';
import type { LayerContent } from './layer.ts';
import { licenceEntry } from './unpack-packages.ts';

/** ENTRY_POINT is the program that a container of the images runs. */
export const ENTRY_POINT = '/usr/bin/bowline';

/** BowlineContent is the layer of this repository, and the packages that it contains. */
export interface BowlineContent extends LayerContent {
  /** The names of the npm packages in the bundle; known once it is staged. */
  readonly bundled: Set<string>;
}

/** bowlineContent describes the layer of the bundled command line, without source maps. */
export function bowlineContent(time: number): BowlineContent {
  const bundled = new Set<string>();
  return {
    name: 'bowline',
    time,
    recipe: ['bowline-layer.ts'],
    bundled,
    async stage(root) {
      const work = await mkdtemp(join(tmpdir(), 'bowline-bundle-'));
      try {
        const { inputs } = await bundleWithInputs({
          entry: 'apps/bowline/src/main.ts',
          folder: work,
          sourcemap: false,
        });
        await copyBundle(work, join(root, 'usr/lib/bowline'));
        await mkdir(join(root, 'usr/bin'), { recursive: true });
        await symlink('../lib/bowline/bowline.js', join(root, ENTRY_POINT));
        const licences = await licencesOf(inputs, bundled);
        const folder = join(root, 'usr/share/doc/bowline');
        await mkdir(folder, { recursive: true });
        await writeFile(join(folder, 'copyright'), licences);
        return licences;
      } finally {
        await rm(work, { recursive: true, force: true });
      }
    },
  };
}

async function copyBundle(from: string, to: string): Promise<void> {
  const names = (await readdir(from, { recursive: true })).filter((name) => name.endsWith('.js'));
  for (const name of names) {
    await mkdir(dirname(join(to, name)), { recursive: true });
    await copyFile(join(from, name), join(to, name));
  }
  // The image has no `env`, and only one Node.
  const main = join(to, 'bowline.js');
  const text = await readFile(main, 'utf8');
  await writeFile(main, text.replace(/^#!.*/, '#!/usr/bin/node'));
}

async function licencesOf(inputs: readonly string[], bundled: Set<string>): Promise<string> {
  const own = await readFile(join(repositoryRoot, 'LICENSE'), 'utf8');
  const texts = [licenceEntry('Bowline', own)];
  for (const each of await bundledPackages(inputs)) {
    bundled.add(each.name);
    texts.push(licenceEntry(`${each.name} ${each.version} (npm)`, await licenceTextOf(each)));
  }
  return texts.join('');
}
