import { SyncError } from '../sync-error.ts';
import { type NameRules, pathFolder } from './fold-path.ts';

const REMEDY = 'rename one of them in the repository or exclude it with excludePatterns';

/** checkCollisions throws if two paths are the same file, or if a file is where another path needs a folder. */
export function checkCollisions(paths: readonly string[], names: NameRules): void {
  const fold = pathFolder(names);
  const files = new Map<string, string>();
  for (const path of paths) {
    const other = files.get(fold(path));
    if (other !== undefined) {
      throw new SyncError('PathCollision', {
        path,
        problem: `the data folder does not distinguish it from ${other}`,
        remedy: REMEDY,
      });
    }
    files.set(fold(path), path);
  }
  const folders = new Set<string>();
  for (const path of paths) {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const folder = fold(path.slice(0, end));
      if (folders.has(folder)) break;
      folders.add(folder);
      const file = files.get(folder);
      if (file === undefined) continue;
      throw new SyncError('PathCollision', { path, problem: `${file} is a file, not a folder`, remedy: REMEDY });
    }
  }
}
