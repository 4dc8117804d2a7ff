import type { TreeEntry } from '../../engine/tree/tree-entry.ts';
import type { GitRepository } from '../../git/repository/git-repository.ts';

/** The modes of links and submodules: what is behind one is not part of the commit. */
const SPECIAL_MODES: ReadonlySet<string> = new Set(['120000', '160000']);

/**
 * selectEntries returns the files of a commit below the sources, and links and submodules that a source is behind, so that such a
 * source is not taken for a missing one. An empty source is the whole repository. Memory depends on what is returned only.
 */
export async function selectEntries(
  repository: Pick<GitRepository, 'listTree'>,
  commit: string,
  sources: readonly string[],
  signal: AbortSignal,
): Promise<TreeEntry[]> {
  const isWhole = sources.includes('');
  const entries = await collect(repository, commit, isWhole ? [] : sources, signal, () => true);
  const isFound = (source: string): boolean =>
    entries.some(({ path }) => path === source || path.startsWith(`${source}/`));
  const missing = isWhole ? [] : sources.filter((source) => !isFound(source));
  if (missing.length === 0) return entries;
  const above = new Set(missing.flatMap(foldersAbove));
  const special = await collect(
    repository,
    commit,
    [],
    signal,
    ({ path, mode }) => SPECIAL_MODES.has(mode) && above.has(path),
  );
  return [...entries, ...special];
}

async function collect(
  repository: Pick<GitRepository, 'listTree'>,
  commit: string,
  paths: readonly string[],
  signal: AbortSignal,
  isSelected: (entry: TreeEntry) => boolean,
): Promise<TreeEntry[]> {
  const entries: TreeEntry[] = [];
  for await (const { path, mode, hash } of repository.listTree(commit, paths, signal)) {
    const entry = { path, mode, blob: hash };
    if (isSelected(entry)) entries.push(entry);
  }
  return entries;
}

/** The source itself and the folders on its path. */
function foldersAbove(source: string): string[] {
  const segments = source.split('/');
  return segments.map((_, index) => segments.slice(0, index + 1).join('/'));
}
