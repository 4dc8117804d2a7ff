import { isDeepStrictEqual } from 'node:util';
import type { Prune } from '../../../operators/ignition-sync/src/engine/sync/sync-request.ts';
import type { LiveEntry, LiveTree } from './live-tree.ts';
import type { ModelFile, ModelTree } from './model-tree.ts';

/** Managed is what the model knows of the files that syncs placed. */
export interface Managed {
  readonly bytes: Buffer;
  readonly isOrphaned: boolean;
}

/** World is the state of a case as the model knows it. */
export interface World {
  managed: Map<string, Managed>;
  /** The folders that syncs created. */
  created: Set<string>;
}

/** Expectation is what a sync must do, or the reasons for which it must be refused. */
export interface Expectation {
  readonly refusals: ReadonlySet<string>;
  readonly added: readonly string[];
  readonly modified: readonly string[];
  readonly deleted: readonly string[];
  readonly placed: ReadonlyMap<string, ModelFile>;
  /** Replaced or deleted files that are not what a sync placed. */
  readonly backedUp: readonly string[];
  readonly next: World;
}

/** expectSync returns what a sync must do with the live files. */
export function expectSync(tree: ModelTree, world: World, live: LiveTree, prune: Prune): Expectation {
  const refusals = new Set(tree.refusals);
  const managed = new Map<string, Managed>();
  const deleted = deletionsOf(tree, world, live, prune, managed);
  const [added, modified]: [string[], string[]] = [[], []];
  const placed = new Map<string, ModelFile>();
  for (const path of tree.paths) if (isBlocked(path, live, deleted)) refusals.add('UnsafeTarget');
  for (const [path, file] of tree.files) {
    const now = live.get(path);
    managed.set(path, { bytes: file.bytes, isOrphaned: false });
    if (now?.kind === 'file' && isSameContent(path, file, now.bytes) && now.isExecutable === file.isExecutable)
      continue;
    if (file.refusal !== undefined) refusals.add(file.refusal);
    placed.set(path, file);
    (now?.kind === 'file' ? modified : added).push(path);
  }
  const backedUp = [...modified, ...deleted].filter((path) => !isOurs(path, world, live.get(path)));
  const needed = new Set([...managed.keys()].flatMap(parentsOf));
  const missing = [...placed.keys()].flatMap(parentsOf).filter((path) => live.get(path)?.kind !== 'folder');
  const created = new Set([...world.created, ...missing].filter((path) => needed.has(path)));
  return { refusals, added, modified, deleted: [...deleted], placed, backedUp, next: { managed, created } };
}

function deletionsOf(
  tree: ModelTree,
  world: World,
  live: LiveTree,
  prune: Prune,
  kept: Map<string, Managed>,
): Set<string> {
  const deleted = new Set<string>();
  for (const [path, each] of world.managed) {
    if (tree.paths.has(path) || tree.isExcluded(path) || live.get(path)?.kind !== 'file') continue;
    if (prune === 'None') kept.set(path, { ...each, isOrphaned: true });
    else deleted.add(path);
  }
  if (prune !== 'All') return deleted;
  for (const [path, entry] of live) {
    const isBelowRoot = tree.roots.some((root) => path.startsWith(`${root}/`));
    if (entry.kind === 'file' && isBelowRoot && !tree.paths.has(path) && !tree.isExcluded(path)) deleted.add(path);
  }
  return deleted;
}

function isBlocked(path: string, live: LiveTree, deleted: ReadonlySet<string>): boolean {
  const now = live.get(path);
  for (const parent of parentsOf(path)) {
    const kind = live.get(parent)?.kind;
    if (kind === 'link' || (kind === 'file' && !deleted.has(parent))) return true;
  }
  if (now?.kind !== 'folder') return now?.kind === 'link';
  return [...live].some(([below, { kind }]) => {
    if (!below.startsWith(`${path}/`)) return false;
    return /(?:^|\/)\.resources(?:\/|$)/.test(below) || (kind !== 'folder' && !deleted.has(below));
  });
}

function parentsOf(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** isOurs returns whether a live file is what a sync placed. */
export function isOurs(path: string, { managed }: World, live: LiveEntry | undefined): boolean {
  const placed = managed.get(path);
  return (
    live?.kind === 'file' &&
    placed !== undefined &&
    isSameContent(path, { bytes: placed.bytes, isJson: false }, live.bytes)
  );
}

/** isSameContent compares by the rule for resource.json files, or byte by byte. */
export function isSameContent(path: string, file: Pick<ModelFile, 'bytes' | 'isJson'>, live: Buffer): boolean {
  if (file.bytes.equals(live)) return true;
  const isResource = path.split('/').at(-1) === 'resource.json';
  if (!isResource && !file.isJson) return false;
  const [a, b] = [file.bytes, live].map((bytes) => parsed(bytes, isResource));
  return a !== undefined && isDeepStrictEqual(a, b);
}

function parsed(bytes: Buffer, isResource: boolean): unknown {
  try {
    const value = JSON.parse(bytes.toString().replace(/^\ufeff/, '')) as {
      attributes?: Record<string, unknown>;
    } | null;
    const attributes = isResource ? value?.attributes : undefined;
    if (typeof attributes !== 'object' || attributes === null || value === null) return value;
    const { lastModification: _, lastModificationSignature: __, ...rest } = attributes;
    const { attributes: ___, ...others } = value;
    return Object.keys(rest).length === 0 ? others : { ...others, attributes: rest };
  } catch {
    return undefined;
  }
}

/** compareTrees returns what differs between the live files after a sync and what the model expects. */
export function compareTrees(before: LiveTree, after: LiveTree, world: World, expectation: Expectation): string[] {
  const { placed, deleted, next } = expectation;
  const violations: string[] = [];
  const gone = new Set(deleted);
  for (const [path, file] of placed) {
    const entry = after.get(path);
    if (entry?.kind !== 'file') violations.push(`${path} was not placed`);
    else if (!isSameContent(path, file, entry.bytes))
      violations.push(
        `${path} has other content than expected: ${entry.bytes.toString().slice(0, 200)} instead of ${file.bytes.toString().slice(0, 200)}`,
      );
    else if (!file.isJson && !file.bytes.equals(entry.bytes)) violations.push(`${path} was not placed byte by byte`);
    else if (entry.isExecutable !== file.isExecutable) violations.push(`${path} has the wrong mode`);
  }
  for (const [path, entry] of before) {
    if (entry.kind === 'folder' || placed.has(path) || gone.has(path)) continue;
    if (!isDeepStrictEqual(after.get(path), entry))
      violations.push(`${path} was changed although it is outside the sync`);
  }
  for (const path of gone)
    if (after.get(path)?.kind === 'file' && !placed.has(path)) violations.push(`${path} was not deleted`);
  for (const [path, entry] of after) {
    if (entry.kind !== 'folder' && !before.has(path) && !placed.has(path)) violations.push(`${path} appeared`);
  }
  return [...violations, ...compareFolders(before, after, world, next)];
}

/** A folder is removed only if a sync created it, nothing needs it, and it is empty. */
function compareFolders(before: LiveTree, after: LiveTree, world: World, next: World): string[] {
  const violations: string[] = [];
  const needed = new Set([...next.managed.keys()].flatMap(parentsOf));
  const filled = new Set([...after.keys()].flatMap(parentsOf));
  for (const [path, { kind }] of before) {
    const isReplaced = [path, ...parentsOf(path)].some((each) => next.managed.has(each));
    if (kind === 'folder' && !world.created.has(path) && !isReplaced && after.get(path)?.kind !== 'folder')
      violations.push(`the folder ${path} was removed although no sync created it`);
  }
  for (const path of world.created) {
    const isLeft = after.get(path)?.kind === 'folder' && !filled.has(path) && !needed.has(path);
    if (isLeft) violations.push(`the empty folder ${path} was not removed`);
  }
  for (const [path, { kind }] of after) {
    if (kind === 'folder' && !before.has(path) && !filled.has(path))
      violations.push(`the empty folder ${path} was created`);
  }
  return violations;
}
