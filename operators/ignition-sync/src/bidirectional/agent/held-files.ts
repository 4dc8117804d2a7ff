import type { PlacedFile } from './repository-paths.ts';

/**
 * heldFiles returns the files that a sync leaves as they are, by their paths in the data folder. `held` are the paths in the repository
 * that the plan of the gateway holds because of conflicts.
 */
export function heldFiles(files: Iterable<PlacedFile>, held: readonly string[] = []): ReadonlySet<string> {
  if (held.length === 0) return new Set();
  const sources = new Set(held);
  const paths = [...files].filter(({ source }) => sources.has(source)).map(({ path }) => path);
  return new Set(paths);
}

/** watchedBy returns whether a path in the data folder is one of the watched paths, or below one. */
export function watchedBy(watchPaths: readonly string[]): (path: string) => boolean {
  const roots = watchPaths.map((path) => path.replace(/\/+$/, ''));
  return (path) => roots.some((root) => path === root || path.startsWith(`${root}/`));
}
