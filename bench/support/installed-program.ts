import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundle } from '../../scripts/bundle.mjs';
import { repositoryRoot } from '../../scripts/repository.ts';

/** installProgram bundles the command line into a folder, like `npm install` in a repository, and returns its path. */
export async function installProgram(folder: string): Promise<string> {
  const dist = join(folder, 'apps/bowline/dist');
  await mkdir(dist, { recursive: true });
  const { scripts } = JSON.parse(await readFile(join(repositoryRoot, 'package.json'), 'utf8')) as {
    readonly scripts: { readonly start: string };
  };
  // As in the package: without the type, Node would have to guess the module type of every file.
  const manifest = { type: 'module', scripts: { start: scripts.start } };
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
  return await bundle({ entry: 'apps/bowline/src/main.ts', folder: dist });
}

/** ownEnvironment omits what would affect a measurement: settings of the caller's Node and npm. */
export function ownEnvironment(): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env;
  return { PATH, HOME, TMPDIR };
}
