import { forEachConcurrently } from '@bowline/machinery';
import type { DataFolder, LiveTarget } from '../files/data-folder.ts';
import { type FileStat, isSameStat } from '../files/file-stat.ts';
import { hasCode } from '../files/has-code.ts';
import { hashFile } from '../files/hash-file.ts';
import { volumeTime } from '../files/volume-time.ts';
import type { Manifest, ManifestEntry } from '../state/manifest.ts';
import { SyncError } from '../sync-error.ts';
import { hashResourceJson, isResourceJson, MAX_RESOURCE_JSON_BYTES } from '../transforms/resource-json.ts';
import { hashAlgorithm } from '../tree/blob-id.ts';
import type { DesiredFile } from '../tree/tree-entry.ts';
import { type ContentOptions, readContent } from './desired-content.ts';
import { MAX_POINTER_BYTES, parsePointer } from './lfs-pointer.ts';
import type { SyncRequest } from './sync-request.ts';
import { fromSystem } from './system-error.ts';

/** Compared is the difference between a desired file and the live one. */
export type Compared =
  /** The live file has the desired content; `entry` describes it. */
  | { readonly file: DesiredFile; readonly isEqual: true; readonly entry: ManifestEntry }
  | {
      readonly file: DesiredFile;
      readonly isEqual: false;
      readonly live: LiveTarget;
      /** The live file, if it has the content that an earlier sync placed. */
      readonly expected?: FileStat | undefined;
    };

/** Comparison is the difference between the desired files and the live ones. */
export interface Comparison {
  readonly compared: readonly Compared[];
  /** The sizes of the blobs to read. */
  readonly sizes: ReadonlyMap<string, number>;
  /** The time of the volume before the first file was read; undefined if none was. */
  readonly checkedAt: bigint | undefined;
}

/** How many files are read at the same time. */
const CONCURRENCY = 8;

/** compareFiles compares the desired files with the manifest and the live files. */
export async function compareFiles(
  folder: DataFolder,
  request: SyncRequest,
  manifest: Manifest | undefined,
): Promise<Comparison> {
  const { tree, blobs, held, lfs, limits, signal } = request;
  const desired = [...tree.files.values()].filter(({ path }) => !held?.has(path));
  const folders = new Map<string, LiveTarget>();
  const compared: Compared[] = [];
  const undecided: Undecided[] = [];
  let checkedAt: Promise<bigint> | undefined;
  const beforeReading = (): Promise<bigint> => {
    checkedAt ??= volumeTime(folder).catch((error: unknown) => {
      throw fromSystem(error, '.ignition-sync');
    });
    return checkedAt;
  };
  await forEach(desired, signal, async (file) => {
    const entry = manifest?.files.get(file.path);
    const live = await folder.inspect(file.path, folders);
    const trusted = entry !== undefined && isTrusted(entry, manifest);
    const result = await compareLocally({ folder, file, entry, live, trusted, beforeReading });
    if ('live' in result || 'entry' in result) compared.push(result);
    else undecided.push(result);
  });
  const needed = [...compared.filter(({ isEqual }) => !isEqual), ...undecided].map(({ file }) => file);
  const wanted = new Set(needed.filter(({ content }) => content === undefined).map(({ blob }) => blob));
  const sizes = wanted.size === 0 ? new Map<string, number>() : await blobs.prepare(wanted, signal);
  const content: ContentOptions = { blobs, sizes, lfs, limits, signal };
  // One after the other: a blob source is usually one process.
  for (const each of undecided) compared.push(await decide(each, content));
  return { compared, sizes, checkedAt: await checkedAt };
}

/**
 * isTrusted returns whether a file with the stat of its entry has not changed. File systems count time in ticks of a few
 * milliseconds: a file that was written in the tick of the last check may have changed later in the same tick.
 */
export function isTrusted(entry: ManifestEntry, manifest: Manifest | undefined): boolean {
  return manifest !== undefined && BigInt(entry.mtime) < BigInt(manifest.checkedAt);
}

/** A stat that no file has, so that the file is read again. */
const NEVER = '-1';

/** carry returns an entry for the next manifest whose file was not read: what is not trusted now must not be later. */
export function carry(entry: ManifestEntry, manifest: Manifest | undefined): ManifestEntry {
  return entry.mtime === NEVER || isTrusted(entry, manifest) ? entry : { ...entry, mtime: NEVER };
}

/** Returns the stat to record for a file that was read after `since`. */
function recordable(stat: FileStat, since: bigint): FileStat {
  return BigInt(stat.mtime) < since ? stat : { ...stat, mtime: NEVER };
}

/** A live file that can only be compared with the desired content itself. */
interface Undecided {
  readonly file: DesiredFile;
  readonly known: ManifestEntry | undefined;
  readonly target: LiveTarget & { readonly kind: 'file' };
  readonly since: bigint;
  readonly expected: FileStat | undefined;
  readonly content: string;
  readonly resource: string | undefined;
}

interface Candidate {
  readonly folder: DataFolder;
  readonly file: DesiredFile;
  readonly entry: ManifestEntry | undefined;
  readonly live: LiveTarget;
  /** Whether a file with the stat of its entry is unchanged. */
  readonly trusted: boolean;
  readonly beforeReading: () => Promise<bigint>;
}

async function compareLocally(candidate: Candidate): Promise<Compared | Undecided> {
  const { folder, file, entry, live, trusted, beforeReading } = candidate;
  checkTarget(file.path, live);
  if (live.kind !== 'file') return { file, isEqual: false, live };
  const isCurrent = entry?.blob === file.blob && entry.transform === file.transformHash && entry.mode === file.mode;
  if (isCurrent && trusted && isSameStat(entry, live.stat)) return { file, isEqual: true, entry: managed(entry) };
  const since = await beforeReading();
  const content = await liveContent(folder, file, trusted ? entry : undefined, live.stat);
  // A file that changes while it is read is not what we placed.
  if (content === undefined) return { file, isEqual: false, live };
  const isOurs = entry !== undefined && isContentOf(entry, content);
  if (isCurrent && isOurs)
    return { file, isEqual: true, entry: { ...managed(entry), ...recordable(live.stat, since) } };
  const expected = isOurs ? live.stat : undefined;
  const isDirect = file.transforms.length === 0 && !isResourceJson(file.path);
  const isUndecided = !isDirect || content.isPointer;
  if (isUndecided)
    return { file, known: entry, target: live, since, expected, content: content.blob, resource: content.resource };
  if (content.blob !== file.blob || !hasMode(file, entry, live)) return { file, isEqual: false, live, expected };
  const { blob, transformHash: transform, mode } = file;
  return { file, isEqual: true, entry: { blob, transform, mode, ...recordable(live.stat, since) } };
}

async function decide(
  { file, known, target, since, expected, content, resource }: Undecided,
  options: ContentOptions,
): Promise<Compared> {
  const facts = await readContent(file, options, () => {});
  const isSame = facts.content === content || (facts.resource !== undefined && facts.resource === resource);
  if (!isSame || !hasMode(file, known, target)) return { file, isEqual: false, live: target, expected };
  return { file, isEqual: true, entry: { ...entryOf(file, facts), ...recordable(target.stat, since) } };
}

/** entryOf returns the entry of a file with content that was read, without its stat. */
export function entryOf(
  { blob, transformHash: transform, mode }: DesiredFile,
  {
    content,
    resource,
    fields,
  }: { readonly content: string; readonly resource?: string | undefined; readonly fields: readonly number[] },
): Omit<ManifestEntry, keyof FileStat> {
  return {
    blob,
    transform,
    ...(content === blob ? {} : { content }),
    ...(resource === undefined ? {} : { resource }),
    mode,
    ...(fields.length === 0 ? {} : { fields }),
  };
}

/** A file that is desired again is no longer orphaned. */
function managed(entry: ManifestEntry): ManifestEntry {
  if (entry.orphaned === undefined) return entry;
  const { orphaned: _, ...rest } = entry;
  return rest;
}

/** The mode of the live file counts only where no sync has set it: a file system may not keep modes. */
function hasMode(file: DesiredFile, entry: ManifestEntry | undefined, live: LiveTarget & { kind: 'file' }): boolean {
  return entry === undefined ? live.isExecutable === (file.mode === 0o755) : entry.mode === file.mode;
}

/** LiveContent is the content of a live file, reduced. */
export interface LiveContent {
  readonly blob: string;
  readonly resource: string | undefined;
  readonly isPointer: boolean;
}

/** liveContent reads a live file. It returns undefined if the file changes meanwhile or no longer exists. */
export async function liveContent(
  folder: DataFolder,
  { path, blob }: Pick<DesiredFile, 'path' | 'blob'>,
  entry?: ManifestEntry,
  stat?: FileStat,
): Promise<LiveContent | undefined> {
  // A file with the stat of the manifest needs not be read.
  if (entry !== undefined && stat !== undefined && isSameStat(entry, stat))
    return { blob: entry.content ?? entry.blob, resource: entry.resource, isPointer: false };
  try {
    const keepBytes = isResourceJson(path) ? MAX_RESOURCE_JSON_BYTES : MAX_POINTER_BYTES;
    const hash = await hashFile(folder.absolute(path), { algorithm: hashAlgorithm(blob), keepBytes });
    if (hash === undefined) return undefined;
    const { content } = hash;
    const resource = isResourceJson(path) && content !== undefined ? hashResourceJson(content) : undefined;
    return { blob: hash.blob, resource, isPointer: content !== undefined && parsePointer(content) !== undefined };
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ELOOP', 'ENOTDIR')) return undefined;
    throw error;
  }
}

/** isContentOf returns whether a live file is what a sync placed, except for what a gateway rewrites. */
export function isContentOf(entry: ManifestEntry, { blob, resource }: LiveContent): boolean {
  return blob === (entry.content ?? entry.blob) || (resource !== undefined && resource === entry.resource);
}

/** checkTarget throws UnsafeTarget if a write to a path would follow a link or replace something that is not a file. */
export function checkTarget(path: string, live: LiveTarget): void {
  if (live.kind !== 'special' && live.kind !== 'below-special') return;
  const what = live.kind === 'special' ? 'it' : `the folder ${live.folder}`;
  throw new SyncError('UnsafeTarget', {
    path,
    problem: `${what} is a link or a special file on the gateway`,
    remedy: 'remove it from the data folder, or exclude the path with excludePatterns',
  });
}

async function forEach<T>(items: readonly T[], signal: AbortSignal | undefined, work: (item: T) => Promise<void>) {
  const [failure] = await forEachConcurrently(items, CONCURRENCY, work, { signal });
  if (failure !== undefined) throw failure.error;
}
