import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataFolder, LiveTarget } from '../files/data-folder.ts';
import type { FileStat } from '../files/file-stat.ts';
import { hasCode } from '../files/has-code.ts';
import type { Operation } from '../state/journal.ts';
import { isManagedPath, type Manifest, type ManifestEntry } from '../state/manifest.ts';
import { SyncError } from '../sync-error.ts';
import { isAlwaysExcluded } from '../tree/excluded-paths.ts';
import { type NameRules, pathFolder } from '../tree/fold-path.ts';
import type { DesiredFile } from '../tree/tree-entry.ts';
import { type Compared, carry, compareFiles, isContentOf, isTrusted, liveContent } from './compare.ts';
import { orderDeletions, orderPlacements } from './order.ts';
import type { Change, SyncRequest } from './sync-request.ts';

/** Placement is a file that a sync stages and places. */
export interface Placement {
  readonly file: DesiredFile;
  readonly expected: FileStat | undefined;
}

/** Deletion is an operation that deletes a file. */
export type Deletion = Extract<Operation, { action: 'delete' }>;

/** SyncPlan lists what a sync changes. */
export interface SyncPlan {
  readonly changes: readonly Change[];
  /** The projects of which files change. */
  readonly projects: readonly string[];
  /** Operations that make room for a file where a folder is, or for a folder where a file is. */
  readonly cleared: readonly Operation[];
  /** In the order in which they are placed. */
  readonly placements: readonly Placement[];
  /** In the order in which they are deleted. */
  readonly deletions: readonly Deletion[];
  /** Folders that are removed if they are empty, deepest first. */
  readonly emptied: readonly string[];
  /** The manifest after the sync, without the files that are placed. */
  readonly kept: ReadonlyMap<string, ManifestEntry>;
  readonly folders: readonly string[];
  /** The sizes of the blobs to read. */
  readonly sizes: ReadonlyMap<string, number>;
  /** The `checkedAt` of a manifest with the kept entries. */
  readonly checkedAt: string;
}

/** planSync compares the desired state with the live files. It changes nothing. */
export async function planSync(
  folder: DataFolder,
  request: SyncRequest,
  manifest: Manifest | undefined,
  names: NameRules,
): Promise<SyncPlan> {
  const { compared, sizes, checkedAt } = await compareFiles(folder, request, manifest);
  const { kept, deletions } = await planDeletions(folder, request, manifest, names);
  const placements: Placement[] = [];
  const changes: Change[] = [];
  for (const each of compared) {
    const { path } = each.file;
    if (each.isEqual) kept.set(path, each.entry);
    else {
      placements.push({ file: each.file, expected: each.expected });
      changes.push({ path, action: each.live.kind === 'file' ? 'modify' : 'add' });
    }
  }
  for (const { path } of deletions.values()) changes.push({ path, action: 'delete' });
  changes.sort((a, b) => (a.path < b.path ? -1 : 1));
  const cleared = await clearPaths(folder, compared, deletions);
  const neededFolders = foldersOf([...request.tree.files.keys(), ...kept.keys()]);
  const created = await missingFolders(folder, placements);
  const known = [...(manifest?.folders ?? []), ...created];
  return {
    changes,
    projects: projectsOf(changes),
    cleared,
    placements: orderPlacements(placements),
    deletions: orderDeletions([...deletions.values()]),
    emptied: (manifest?.folders ?? []).filter((path) => !neededFolders.has(path)).toSorted(deepestFirst),
    kept,
    folders: [...new Set(known)].filter((path) => neededFolders.has(path)).toSorted(),
    sizes,
    checkedAt: String(checkedAt ?? manifest?.checkedAt ?? 0),
  };
}

/** Finds the live files to delete, and the entries of files that stay managed although the commit does not have them. */
async function planDeletions(
  folder: DataFolder,
  { tree, prune = 'Managed', held }: SyncRequest,
  manifest: Manifest | undefined,
  names: NameRules,
): Promise<{ kept: Map<string, ManifestEntry>; deletions: Map<string, Deletion> }> {
  const kept = new Map<string, ManifestEntry>();
  const deletions = new Map<string, Deletion>();
  const fold = pathFolder(names);
  const desired = new Set(Array.from(tree.files.keys(), fold));
  const folders = new Map<string, LiveTarget>();
  for (const [path, entry] of manifest?.files ?? []) {
    if (held?.has(path)) kept.set(path, carry(entry, manifest));
    else if (!desired.has(fold(path)) && !tree.isExcluded(path)) {
      const live = await folder.inspect(path, folders);
      // What is no longer a file is not what we placed: it stays, unmanaged.
      if (live.kind !== 'file') continue;
      if (prune === 'None') {
        const carried = carry(entry, manifest);
        kept.set(path, carried.orphaned ? carried : { ...carried, orphaned: true });
      } else
        deletions.set(path, {
          action: 'delete',
          path,
          expected: await expectedStat(folder, path, entry, live.stat, manifest),
        });
    }
  }
  if (prune !== 'All') return { kept, deletions };
  for (const root of tree.roots) {
    if ((await folder.inspect(root, folders)).kind !== 'folder') continue;
    for await (const path of filesBelow(folder, root)) {
      const isOther = !desired.has(fold(path)) && !tree.isExcluded(path) && !held?.has(path);
      if (isOther && isManagedPath(path) && !deletions.has(path)) deletions.set(path, { action: 'delete', path });
    }
  }
  return { kept, deletions };
}

async function expectedStat(
  folder: DataFolder,
  path: string,
  entry: ManifestEntry,
  stat: FileStat,
  manifest: Manifest | undefined,
): Promise<FileStat | undefined> {
  const known = isTrusted(entry, manifest) ? entry : undefined;
  const content = await liveContent(folder, { path, blob: entry.blob }, known, stat);
  return content !== undefined && isContentOf(entry, content) ? stat : undefined;
}

/** filesBelow yields the regular files below a folder. Links are neither followed nor yielded. */
export async function* filesBelow(folder: DataFolder, path: string): AsyncGenerator<string> {
  for (const entry of await listFolder(folder, path)) {
    const below = `${path}/${entry.name}`;
    if (entry.isDirectory()) yield* filesBelow(folder, below);
    else if (entry.isFile()) yield below;
  }
}

async function listFolder(folder: DataFolder, path: string) {
  try {
    return await readdir(folder.absolute(path), { withFileTypes: true });
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return [];
    throw error;
  }
}

/** Moves deletions that make room for a file or a folder to the front, or throws UnsafeTarget if there is no way. */
async function clearPaths(
  folder: DataFolder,
  compared: readonly Compared[],
  deletions: Map<string, Deletion>,
): Promise<Operation[]> {
  const cleared: Operation[] = [];
  const take = (path: string): boolean => {
    const deletion = deletions.get(path);
    if (deletion === undefined) return false;
    deletions.delete(path);
    cleared.push(deletion);
    return true;
  };
  const done = new Set<string>();
  for (const each of compared) {
    if (each.isEqual) continue;
    const { live, file } = each;
    if (live.kind === 'below-file') {
      if (!done.has(live.file) && !take(live.file)) throw blocked(file.path, `${live.file} is a file on the gateway`);
      done.add(live.file);
    } else if (live.kind === 'folder') {
      const folders: string[] = [];
      if (!(await canClear(folder, file.path, take, folders)))
        throw blocked(file.path, 'it is a folder on the gateway with other files');
      cleared.push(...folders.map((path) => ({ action: 'delete-folder', path }) as const));
    }
  }
  return cleared;
}

/** Takes the deletions of everything below a folder. Returns false if something else is there. */
async function canClear(
  folder: DataFolder,
  path: string,
  take: (path: string) => boolean,
  folders: string[],
): Promise<boolean> {
  for (const entry of await listFolder(folder, path)) {
    const below = join(path, entry.name);
    if (isAlwaysExcluded(below)) return false;
    const isCleared = entry.isDirectory() ? await canClear(folder, below, take, folders) : take(below);
    if (!isCleared) return false;
  }
  folders.push(path);
  return true;
}

function blocked(path: string, problem: string): SyncError {
  return new SyncError('UnsafeTarget', {
    path,
    problem,
    remedy: 'move it away on the gateway, or exclude the path with excludePatterns',
  });
}

/** The folders that do not exist and that placing the files creates. */
async function missingFolders(folder: DataFolder, placements: readonly Placement[]): Promise<Set<string>> {
  const missing = new Set<string>();
  const inspected = new Map<string, LiveTarget>();
  for (const path of foldersOf(placements.map(({ file }) => file.path))) {
    const live = inspected.get(path) ?? (await folder.inspect(path, inspected));
    if (live.kind !== 'folder') missing.add(path);
  }
  return missing;
}

function foldersOf(paths: Iterable<string>): Set<string> {
  const folders = new Set<string>();
  for (const path of paths) {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const parent = path.slice(0, end);
      if (folders.has(parent)) break;
      folders.add(parent);
    }
  }
  return folders;
}

function deepestFirst(a: string, b: string): number {
  return b.split('/').length - a.split('/').length || (a < b ? -1 : 1);
}

function projectsOf(changes: readonly Change[]): string[] {
  const projects = changes.flatMap(({ path }) => /^projects\/([^/]+)\//.exec(path)?.[1] ?? []);
  return [...new Set(projects)];
}
