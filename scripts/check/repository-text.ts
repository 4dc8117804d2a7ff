import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { repositoryRoot } from '../repository.ts';

/** The locations of this checkout and its user's home: the repository must not contain them. */
const machinePaths = [homedir(), repositoryRoot, dirname(repositoryRoot)]
  .map((path) => path.replace(/\/$/, ''))
  .filter((path) => path.split('/').length > 1 && path !== '' && path !== tmpdir());

/**
 * repositoryText reports machine-specific content: absolute paths in tracked text, and download addresses in the lock
 * file.
 */
export function repositoryText(): string[] {
  const lock = readFileSync(join(repositoryRoot, 'package-lock.json'), 'utf8');
  const problems = lock.includes('"resolved": "http')
    ? ['package-lock.json contains download URLs; recreate it with the .npmrc of this repository']
    : [];
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: repositoryRoot, encoding: 'utf8' }).split('\0');
  for (const file of files.filter(
    (name) => /\.(ts|mjs|js|json|md|ya?ml|sh)$/.test(name) && name !== 'package-lock.json',
  )) {
    const lines = readFileSync(join(repositoryRoot, file), 'utf8').split('\n');
    lines.forEach((line, index) => {
      const found = machinePaths.find((path) => line.includes(`${path}/`));
      if (found) problems.push(`${file}:${index + 1}: ${found} is a path on this machine`);
    });
  }
  return problems;
}
