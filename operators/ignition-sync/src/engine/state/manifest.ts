import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject } from '@bowline/machinery';
import type { DataFolder } from '../files/data-folder.ts';
import { type FileStat, statOf } from '../files/file-stat.ts';
import { hasCode } from '../files/has-code.ts';
import { writeDurably } from '../files/write-durably.ts';
import { isAlwaysExcluded } from '../tree/excluded-paths.ts';
import { pathProblem } from '../tree/safe-path.ts';
import type { FileMode } from '../tree/tree-entry.ts';

/** ManifestEntry describes a file that a sync placed, as it was placed. */
export interface ManifestEntry extends FileStat {
  /** The blob that the file comes from. */
  readonly blob: string;
  /** The hash of its transforms, '' without any. */
  readonly transform: string;
  /** The id of the content as a blob, if it is not that of `blob`: after transforms, or from large file storage. */
  readonly content?: string | undefined;
  /** The hash of a `resource.json` without what a gateway rewrites. */
  readonly resource?: string | undefined;
  readonly mode: FileMode;
  /** The indexes of the fields that the file has. */
  readonly fields?: readonly number[] | undefined;
  /** The commit does not have the file any more, and `prune` kept it. */
  readonly orphaned?: boolean | undefined;
}

/** Manifest lists the files that syncs placed: the managed files. */
export interface Manifest {
  readonly commit: string;
  readonly ref: string;
  readonly settingsHash: string;
  /** Whether the gateway has loaded these files. */
  readonly loaded: boolean;
  readonly files: ReadonlyMap<string, ManifestEntry>;
  /** The folders that syncs created and that may be removed when they are empty. */
  readonly folders: readonly string[];
  /** A time of the volume, in nanoseconds since the epoch, as text. A file that changed since then has a later time. */
  readonly checkedAt: string;
}

const SCHEMA = 1;
/** More than 50,000 entries with long paths need. */
const MAX_MANIFEST_BYTES = 256 * 1024 * 1024;

/** manifestPath returns where the manifest of a data folder is. */
export function manifestPath(folder: DataFolder): string {
  return join(folder.state, 'manifest.json');
}

/** readManifest returns the manifest of a data folder. A missing or damaged one is undefined: nothing is managed. */
export async function readManifest(folder: DataFolder): Promise<Manifest | undefined> {
  const path = manifestPath(folder);
  try {
    const stats = await statOf(path);
    if (!stats?.isFile() || stats.size > MAX_MANIFEST_BYTES) return undefined;
    return parseManifest(await readFile(path, 'utf8'));
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ELOOP')) return undefined;
    throw error;
  }
}

/** writeManifest replaces the manifest of a data folder at once. */
export async function writeManifest(folder: DataFolder, manifest: Manifest): Promise<void> {
  await writeDurably(manifestPath(folder), formatManifest(manifest));
}

/** formatManifest returns the text of a manifest. */
export function formatManifest({ files, ...rest }: Manifest): string {
  return `${JSON.stringify({ schema: SCHEMA, ...rest, files: Object.fromEntries(files) })}\n`;
}

/** parseManifest parses the text of a manifest. It returns undefined if any part is damaged. */
export function parseManifest(text: string): Manifest | undefined {
  const value = parseObject(text);
  if (value?.schema !== SCHEMA || !isObject(value.files) || !Array.isArray(value.folders)) return undefined;
  const { commit, ref, settingsHash, loaded, checkedAt } = value;
  if (![commit, ref, settingsHash].every(isText) || typeof loaded !== 'boolean' || !isTime(checkedAt)) return undefined;
  const files = new Map<string, ManifestEntry>();
  for (const [path, entry] of Object.entries(value.files)) {
    if (!isManagedPath(path) || !isEntry(entry)) return undefined;
    files.set(path, entry);
  }
  if (!value.folders.every(isManagedPath)) return undefined;
  return { commit, ref, settingsHash, loaded, checkedAt, files, folders: value.folders } as Manifest;
}

/** isManagedPath returns whether a sync may have placed something at a path. Others in a stored file mean damage. */
export function isManagedPath(path: unknown): path is string {
  return isText(path) && pathProblem(path) === undefined && !isAlwaysExcluded(path);
}

/** parseObject parses a JSON object, or returns undefined. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** isText returns whether a value is a string. */
export function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isTime(value: unknown): value is string {
  return isText(value) && /^-?\d{1,30}$/.test(value);
}

function isEntry(value: unknown): value is ManifestEntry {
  if (!isObject(value)) return false;
  const { blob, transform, content, resource, mode, size, mtime, inode, fields = [] } = value;
  return (
    [blob, transform, inode].every(isText) &&
    isTime(mtime) &&
    [content, resource].every((each) => each === undefined || isText(each)) &&
    (mode === 0o644 || mode === 0o755) &&
    typeof size === 'number' &&
    Array.isArray(fields) &&
    fields.every(Number.isInteger)
  );
}
