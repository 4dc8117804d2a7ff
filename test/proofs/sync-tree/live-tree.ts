import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** LiveEntry is what exists at a path. */
export type LiveEntry =
  | { readonly kind: 'file'; readonly bytes: Buffer; readonly isExecutable: boolean }
  | { readonly kind: 'folder' }
  | { readonly kind: 'link'; readonly target: string };

/** LiveTree is everything below a folder, by path. */
export type LiveTree = ReadonlyMap<string, LiveEntry>;

/** readTree reads everything below a folder, except the named entries of the folder itself. Links are not followed. */
export function readTree(folder: string, except: readonly string[] = []): LiveTree {
  const tree = new Map<string, LiveEntry>();
  const visit = (path: string): void => {
    for (const name of readdirSync(join(folder, path))) {
      const below = path === '' ? name : `${path}/${name}`;
      if (except.includes(below)) continue;
      const absolute = join(folder, below);
      const stats = lstatSync(absolute);
      if (stats.isSymbolicLink()) tree.set(below, { kind: 'link', target: readlinkSync(absolute) });
      else if (stats.isDirectory()) {
        tree.set(below, { kind: 'folder' });
        visit(below);
      } else tree.set(below, { kind: 'file', bytes: readFileSync(absolute), isExecutable: (stats.mode & 0o111) !== 0 });
    }
  };
  visit('');
  return tree;
}

/** describeTree returns a text that differs between any two trees. */
export function describeTree(tree: LiveTree): string {
  return [...tree]
    .map(([path, entry]) => {
      if (entry.kind === 'file') return `${path} ${entry.isExecutable} ${entry.bytes.toString('base64')}`;
      return `${path} ${entry.kind} ${entry.kind === 'link' ? entry.target : ''}`;
    })
    .toSorted()
    .join('\n');
}
