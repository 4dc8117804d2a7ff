import { execFileSync } from 'node:child_process';
import { repositoryRoot } from '../../scripts/repository.ts';

/** npm runs npm in a folder and returns its output. */
export function npm(cwd: string, ...args: string[]): string {
  return execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** packPackages packs packages of this repository into a folder and returns the name of each file. */
export function packPackages(folder: string, names: readonly string[]): Record<string, string> {
  const sources = names.map((name) => `./packages/${name}`);
  const packed = npm(repositoryRoot, 'pack', '--silent', '--pack-destination', folder, ...sources);
  // npm prints the file of each package, in the same order.
  const files = packed.trim().split('\n');
  return Object.fromEntries(names.map((name, index) => [`@bowline/${name}`, files[index] ?? '']));
}
