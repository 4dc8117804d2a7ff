/** PlacedFile is a file of a sync, as the watcher needs it. */
export interface PlacedFile {
  /** The path in the data folder. */
  readonly path: string;
  /** The path in the repository; '' for content that the engine generates. */
  readonly source: string;
}

/** RepositoryPaths translates paths of the data folder into paths of the repository. */
export interface RepositoryPaths {
  /** of returns the path in the repository of a file. Undefined: no sync places anything near it, so it has none. */
  of(path: string): string | undefined;
}

/**
 * repositoryPaths derives where files belong in the repository from those that a sync placed. A file that a sync placed has its own
 * source; a new one belongs to where most files of its folder, or of the nearest folder above it, come from.
 */
export function repositoryPaths(files: Iterable<PlacedFile>): RepositoryPaths {
  const sources = new Map<string, string>();
  const folders = new Map<string, Map<string, number>>();
  for (const { path, source } of files) {
    if (source === '') continue;
    sources.set(path, source);
    for (const [folder, origin] of commonFolders(path, source)) {
      const origins = folders.get(folder) ?? new Map<string, number>();
      origins.set(origin, (origins.get(origin) ?? 0) + 1);
      folders.set(folder, origins);
    }
  }
  return {
    of(path) {
      const own = sources.get(path);
      if (own !== undefined) return own;
      for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
        const origins = folders.get(path.slice(0, end));
        if (origins) return joined(mostFrequent(origins), path.slice(end + 1));
      }
      return undefined;
    },
  };
}

/** The folders of a placed file with the folders that they come from, as far as both paths end alike. */
function* commonFolders(path: string, source: string): Generator<readonly [string, string]> {
  let [to, from] = [path, source];
  while (nameOf(to) === nameOf(from) && to.includes('/')) {
    to = folderOf(to);
    from = folderOf(from);
    yield [to, from];
    if (from === '') return;
  }
}

function mostFrequent(counts: ReadonlyMap<string, number>): string {
  let best: readonly [string, number] = ['', 0];
  for (const entry of counts) if (entry[1] > best[1]) best = entry;
  return best[0];
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function folderOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '';
}

function joined(folder: string, rest: string): string {
  return folder === '' ? rest : `${folder}/${rest}`;
}
