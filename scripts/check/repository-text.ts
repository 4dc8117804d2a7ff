import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../repository.ts';

/** An absolute path under a place where a checkout or a home folder usually lies. */
const machinePath = /(?<![\w.$}-])\/(?:home|root|work|Users)\/[\w.-]+/;

/** repositoryText finds what belongs to one machine: absolute paths in tracked text, and download addresses in the lock file. */
export function repositoryText(): string[] {
  const lock = readFileSync(join(repositoryRoot, 'package-lock.json'), 'utf8');
  const problems = lock.includes('"resolved": "http')
    ? ['package-lock.json holds download addresses; lock again with the .npmrc of this repository']
    : [];
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: repositoryRoot, encoding: 'utf8' }).split('\0');
  for (const file of files.filter(
    (name) => /\.(ts|mjs|js|json|md|ya?ml|sh)$/.test(name) && name !== 'package-lock.json',
  )) {
    const lines = readFileSync(join(repositoryRoot, file), 'utf8').split('\n');
    lines.forEach((line, index) => {
      const found = machinePath.exec(line);
      if (found) problems.push(`${file}:${index + 1}: ${found[0]} is a path of one machine`);
    });
  }
  return problems;
}
