import { anyGlob } from '@bowline/machinery';
import { foldCase } from './fold-path.ts';

/** STATE_FOLDER is the folder of the agent in the data folder. */
export const STATE_FOLDER = '.ignition-sync';

/** What belongs to the gateway, to git, to the agent, and to agents of the project that the operator follows. */
const ALWAYS_EXCLUDED: ReadonlySet<string> = new Set(['.resources', '.git', STATE_FOLDER, '.sync-staging']);

/** isAlwaysExcluded returns whether a path has a segment that a sync never writes or deletes, whatever the patterns. */
export function isAlwaysExcluded(path: string): boolean {
  // NFKC, so that no file system that folds more than case finds one of the names in another spelling.
  return path.split('/').some((segment) => ALWAYS_EXCLUDED.has(foldCase(segment.normalize('NFKC'))));
}

/**
 * compilePatterns compiles exclude patterns. They are globs; in addition, a leading `**` followed by a slash also
 * matches at the root, and a trailing slash stands for everything below the folder.
 *
 * @example
 * compilePatterns(['**' + '/.gitkeep', 'logs/'])('logs/today.txt'); // true
 */
export function compilePatterns(patterns: readonly string[]): (path: string) => boolean {
  return anyGlob(
    patterns.flatMap((pattern) => {
      const below = pattern.endsWith('/') ? `${pattern}**` : pattern;
      return below.startsWith('**/') ? [below, below.slice(3)] : [below];
    }),
  );
}
