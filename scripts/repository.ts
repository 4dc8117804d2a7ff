import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** repositoryRoot is the absolute path of the work tree. */
export const repositoryRoot = fileURLToPath(new URL('..', import.meta.url));

const ignored = new Set(['node_modules', 'dist', '.git', 'coverage']);

/** sourceFiles lists the files under `folder` (relative to the root) whose names end in `suffix`, sorted. */
export function sourceFiles(folder: string, suffix: string): string[] {
  const found: string[] = [];
  const visit = (relative: string): void => {
    for (const entry of readdirSync(join(repositoryRoot, relative), { withFileTypes: true })) {
      const path = `${relative}/${entry.name}`;
      if (entry.isDirectory()) {
        if (!ignored.has(entry.name)) visit(path);
      } else if (entry.name.endsWith(suffix)) found.push(path);
    }
  };
  visit(folder);
  return found.sort();
}
