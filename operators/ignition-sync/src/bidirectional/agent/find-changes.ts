import { formatTime } from '@bowline/machinery';
import type { DataFolder } from '../../engine/files/data-folder.ts';
import { fileStat, isSameStat } from '../../engine/files/file-stat.ts';
import { hasCode } from '../../engine/files/has-code.ts';
import { openFile } from '../../engine/files/write-durably.ts';
import type { Manifest } from '../../engine/state/manifest.ts';
import { isContentOf, isTrusted, liveContent } from '../../engine/sync/compare.ts';
import type { Transform } from '../../engine/transforms/transform.ts';
import { compilePatterns, isAlwaysExcluded } from '../../engine/tree/excluded-paths.ts';
import type { AgentSettings } from '../../protocol/agent-settings.ts';
import { compressedSize, type GatewayChange, MAX_COMPRESSED_BYTES } from '../changes/change-set.ts';
import { maxFileBytes } from '../changes/max-file-bytes.ts';
import { watchedBy } from './held-files.ts';
import { type PlacedFile, repositoryPaths } from './repository-paths.ts';
import { reverseTransforms } from './reverse-transforms.ts';
import { type LiveFile, walkPaths } from './walk-paths.ts';

/** Bidirectional are the settings of the watcher. */
export type Bidirectional = NonNullable<AgentSettings['bidirectional']>;

/** WatchedFile is a file of the last sync. */
export interface WatchedFile extends PlacedFile {
  readonly blob: string;
  readonly transforms: readonly Transform[];
}

/** WatchedState is what the data folder should contain. */
export interface WatchedState {
  readonly folder: DataFolder;
  readonly manifest: Manifest;
  /** The files of the commit, by their paths in the data folder. */
  readonly files: ReadonlyMap<string, WatchedFile>;
  /** The exclude patterns of the IgnitionSync, the profile and the pod. */
  readonly excludePatterns: readonly string[];
  readonly settings: Bidirectional;
  /** readBlob reads a file of the commit. */
  readonly readBlob: (blob: string, signal?: AbortSignal) => Promise<Buffer>;
}

/** FoundChanges are the changes of a gateway, or why they are not sent. */
export type FoundChanges =
  | { readonly kind: 'changes'; readonly changes: readonly GatewayChange[]; readonly timestamp: string | undefined }
  | { readonly kind: 'refused'; readonly reason: 'GuardrailExceeded' | 'NotReversible'; readonly message: string };

/** The number of names in a message. */
const MAX_NAMES = 5;

/** excludedFrom returns whether a path is never sent. */
export function excludedFrom({ excludePatterns, settings }: Pick<WatchedState, 'excludePatterns' | 'settings'>) {
  const isExcluded = compilePatterns([...excludePatterns, ...(settings.guardrails.excludePatterns ?? [])]);
  return (path: string): boolean => isAlwaysExcluded(path) || isExcluded(path);
}

/**
 * findChanges compares the watched paths with what the last sync placed. What a gateway rewrites in `resource.json` files is no
 * change. If a guardrail is exceeded, or a change could not be placed again exactly, nothing is sent.
 */
export async function findChanges(state: WatchedState, signal?: AbortSignal): Promise<FoundChanges> {
  const { folder, manifest, files, settings } = state;
  const isExcluded = excludedFrom(state);
  const watchPaths = settings.watchPaths ?? [];
  const isWatched = watchedBy(watchPaths);
  const live = await walkPaths(folder, watchPaths, isExcluded, signal);
  const changed: Candidate[] = [];
  for (const [path, file] of live) {
    const action = await actionOf(state, path, file);
    if (action !== undefined) changed.push({ path, action, live: file });
  }
  for (const [path, entry] of manifest.files) {
    // A file that the engine generated has no place in the repository.
    if (isWatched(path) && !entry.orphaned && !live.has(path) && !isExcluded(path) && files.get(path)?.source !== '')
      changed.push({ path, action: 'deleted', live: undefined });
  }
  const refusal = guardrail(changed, settings);
  return refusal ?? (await readChanges(state, changed, signal));
}

interface Candidate {
  readonly path: string;
  readonly action: GatewayChange['action'];
  readonly live: LiveFile | undefined;
}

async function actionOf(
  { folder, manifest }: WatchedState,
  path: string,
  file: LiveFile,
): Promise<'added' | 'modified' | undefined> {
  const entry = manifest.files.get(path);
  if (!entry || entry.orphaned) return 'added';
  if (isTrusted(entry, manifest) && isSameStat(entry, file)) return undefined;
  const content = await liveContent(folder, { path, blob: entry.blob });
  return content !== undefined && isContentOf(entry, content) ? undefined : 'modified';
}

function guardrail(changed: readonly Candidate[], { guardrails }: Bidirectional): FoundChanges | undefined {
  const { maxFilesPerPR, maxFileSize } = guardrails;
  if (changed.length > maxFilesPerPR) {
    const message = `${changed.length} files were changed, and guardrails.maxFilesPerPR is ${maxFilesPerPR}`;
    return refused('GuardrailExceeded', message, changed);
  }
  const maxBytes = maxFileBytes(guardrails);
  const large = changed.filter(({ live }) => live !== undefined && live.size > maxBytes);
  if (large.length === 0) return undefined;
  return refused('GuardrailExceeded', `files are larger than guardrails.maxFileSize, ${maxFileSize}`, large);
}

async function readChanges(
  state: WatchedState,
  changed: readonly Candidate[],
  signal: AbortSignal | undefined,
): Promise<FoundChanges> {
  const paths = repositoryPaths(state.files.values());
  const changes = new Map<string, GatewayChange>();
  const [irreversible, large]: [Candidate[], Candidate[]] = [[], []];
  let newest = 0n;
  for (const each of changed) {
    const source = paths.of(each.path);
    const content = each.live === undefined ? undefined : await contentOf(state, each, signal);
    // It changed or disappeared meanwhile: the next walk finds it.
    if (content === 'gone') continue;
    if (source === undefined || content === 'irreversible') {
      irreversible.push(each);
      continue;
    }
    if (content !== undefined && compressedSize(content) > MAX_COMPRESSED_BYTES) large.push(each);
    const { action, live } = each;
    const change: GatewayChange = { path: source, action, isExecutable: live?.isExecutable ?? false, content };
    const other = changes.get(source);
    // A shared file is placed in several projects: two different changes of it cannot both be in the repository.
    if (other && !isSame(other, change)) irreversible.push(each);
    changes.set(source, change);
    const mtime = BigInt(live?.mtime ?? 0);
    if (mtime > newest) newest = mtime;
  }
  if (irreversible.length > 0) {
    const message = 'the changed files have transforms, or places in the repository, that cannot be derived from them';
    return refused('NotReversible', message, irreversible);
  }
  if (large.length > 0) {
    const message = `files have more than ${MAX_COMPRESSED_BYTES / 1024} KiB after compression`;
    return refused('GuardrailExceeded', message, large);
  }
  const timestamp = newest === 0n ? undefined : formatTime(Number(newest / 1_000_000n));
  return { kind: 'changes', changes: [...changes.values()], timestamp };
}

async function contentOf(
  { folder, files, readBlob }: WatchedState,
  { path, live }: Candidate,
  signal: AbortSignal | undefined,
): Promise<Buffer | 'gone' | 'irreversible'> {
  const content = live && (await readSame(folder.absolute(path), live));
  if (!content) return 'gone';
  const file = files.get(path);
  if (!file || file.transforms.length === 0) return content;
  return reverseTransforms(content, file.transforms, await readBlob(file.blob, signal)) ?? 'irreversible';
}

/**
 * readSame reads the file that was found by the walk, and no other: whoever may write to the data folder could replace a folder by a link
 * to the credentials of the agent meanwhile.
 */
async function readSame(path: string, { inode, size }: LiveFile): Promise<Buffer | undefined> {
  try {
    await using file = await openFile(path);
    const found = fileStat(await file.stat({ bigint: true }));
    return found.inode === inode && found.size === size ? await file.readFile() : undefined;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'EISDIR')) return undefined;
    throw error;
  }
}

function isSame(a: GatewayChange, b: GatewayChange): boolean {
  if (a.content === undefined || b.content === undefined) return a.content === b.content;
  return a.content.equals(b.content);
}

function refused(
  reason: 'GuardrailExceeded' | 'NotReversible',
  problem: string,
  candidates: readonly Candidate[],
): FoundChanges {
  const names = candidates
    .map(({ path }) => path)
    .toSorted()
    .slice(0, MAX_NAMES);
  const more = candidates.length > MAX_NAMES ? ` and ${candidates.length - MAX_NAMES} more` : '';
  return { kind: 'refused', reason, message: `nothing is sent to Git: ${problem}: ${names.join(', ')}${more}` };
}
