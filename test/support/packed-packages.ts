import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { repositoryRoot } from '../../scripts/repository.ts';

/** npm runs npm in a folder and returns its output. */
export function npm(cwd: string, ...args: string[]): string {
  return execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** packPackages packs packages of this repository into a folder and returns the name of each file. */
export function packPackages(folder: string, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.map((name) => {
      const source = join(repositoryRoot, 'packages', name);
      return [`@bowline/${name}`, npm(source, 'pack', '--silent', '--pack-destination', folder).trim()];
    }),
  );
}
