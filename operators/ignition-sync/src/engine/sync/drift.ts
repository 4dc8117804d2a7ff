import { forEachConcurrently } from '@bowline/machinery';
import type { DataFolder, LiveTarget } from '../files/data-folder.ts';
import { isSameStat } from '../files/file-stat.ts';
import type { Manifest, ManifestEntry } from '../state/manifest.ts';
import { isContentOf, isTrusted, liveContent } from './compare.ts';

/** DriftedFile is a managed file that is not what a sync placed. */
export interface DriftedFile {
  readonly path: string;
  readonly change: 'modified' | 'deleted';
}

/** How many files are read at the same time. */
const CONCURRENCY = 8;

/**
 * findDrift returns the managed files that differ from what syncs placed, sorted by path. Only files whose stat differs are read.
 * What a gateway rewrites in a `resource.json` is no difference.
 */
export async function findDrift(folder: DataFolder, manifest: Manifest, signal?: AbortSignal): Promise<DriftedFile[]> {
  const drifted: DriftedFile[] = [];
  const folders = new Map<string, LiveTarget>();
  const work = async ([path, entry]: readonly [string, ManifestEntry]): Promise<void> => {
    if (entry.orphaned) return;
    const live = await folder.inspect(path, folders);
    if (live.kind === 'missing' || live.kind === 'below-file') drifted.push({ path, change: 'deleted' });
    else if (live.kind !== 'file') drifted.push({ path, change: 'modified' });
    else if (!isTrusted(entry, manifest) || !isSameStat(entry, live.stat)) {
      const content = await liveContent(folder, { path, blob: entry.blob });
      if (content === undefined || !isContentOf(entry, content)) drifted.push({ path, change: 'modified' });
    }
  };
  const [failure] = await forEachConcurrently(manifest.files, CONCURRENCY, work, { signal });
  if (failure !== undefined) throw failure.error;
  return drifted.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}
