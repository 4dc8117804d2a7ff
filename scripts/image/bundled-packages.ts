import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repositoryRoot } from '../repository.ts';

/** BundledPackage is an npm package whose code is part of a bundle. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  /** Relative to the repository. */
  readonly folder: string;
}

/** bundledPackages returns the npm packages of a bundle's source files, sorted by name and folder. */
export async function bundledPackages(inputs: readonly string[]): Promise<readonly BundledPackage[]> {
  const folders = new Set(inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []));
  const packages: BundledPackage[] = [];
  for (const folder of [...folders].sort()) {
    const text = await readFile(join(repositoryRoot, folder, 'package.json'), 'utf8');
    const { name, version, license } = JSON.parse(text) as Partial<BundledPackage>;
    if (name === undefined || version === undefined || license === undefined) {
      throw new Error(`${folder}/package.json has no name, version or license`);
    }
    packages.push({ name, version, license, folder });
  }
  return packages.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** licenceTextOf returns the licence and notice of a package, or the name of its licence if the package has no such file. */
export async function licenceTextOf({ folder, license }: BundledPackage): Promise<string> {
  const path = join(repositoryRoot, folder);
  const names = (await readdir(path)).filter((name) => /^(licen[cs]e|copying|notice)/i.test(name)).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(path, name), 'utf8')));
  return texts.length === 0 ? `License: ${license}. The package contains no text of it.` : texts.join('\n');
}
