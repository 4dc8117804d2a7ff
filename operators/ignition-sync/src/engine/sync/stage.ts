import { mkdir, rm, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DataFolder } from '../files/data-folder.ts';
import { fileStat } from '../files/file-stat.ts';
import { volumeTime } from '../files/volume-time.ts';
import { createFile, syncFolder, writeAll, writeDurably } from '../files/write-durably.ts';
import { type Operation, stagingPath } from '../state/journal.ts';
import { formatManifest, type Manifest, type ManifestEntry } from '../state/manifest.ts';
import { SyncError } from '../sync-error.ts';
import { DEFAULT_LIMITS } from '../tree/check-limits.ts';
import { isAlwaysExcluded } from '../tree/excluded-paths.ts';
import type { DesiredTree } from '../tree/tree-entry.ts';
import { entryOf } from './compare.ts';
import { type ContentOptions, readContent } from './desired-content.ts';
import type { Placement, SyncPlan } from './plan.ts';
import type { SyncRequest, SyncStep } from './sync-request.ts';
import { diskFull, fromSystem } from './system-error.ts';

/** StageOptions configures how files are staged. */
export interface StageOptions {
  readonly onStep: (step: SyncStep, path?: string) => void;
  /** Returns the free bytes of the file system. Defaults to what the system reports. */
  readonly freeBytes?: ((path: string) => Promise<number>) | undefined;
}

/** STAGED_MANIFEST is the name of the staged manifest. */
export const STAGED_MANIFEST = 'manifest.json';

/** Space that a sync leaves to the gateway. */
const RESERVED_BYTES = 64 * 1024 * 1024;
/** MAX_SYNCING is the number of files or folders that are made durable at the same time: the file system combines them. */
export const MAX_SYNCING = 8;

/**
 * stageSync writes every file that a sync places, and the manifest of its result, below the staging folder, and makes them
 * durable. It returns the operations that bring them to their paths.
 */
export async function stageSync(
  folder: DataFolder,
  id: string,
  plan: SyncPlan,
  request: SyncRequest,
  { onStep, freeBytes = availableBytes }: StageOptions,
): Promise<Operation[]> {
  const { commit, ref, settingsHash, tree, blobs, lfs, limits, signal } = request;
  await checkSpace(folder, plan, request, freeBytes);
  const staging = stagingPath(folder, id);
  onStep('stage');
  await mkdir(staging, { mode: 0o700 });
  const content: ContentOptions = { blobs, sizes: plan.sizes, lfs, limits, signal };
  const entries = new Map(plan.kept);
  const placed: Operation[] = [];
  const durable = new Durable();
  blobs.announce?.(plan.placements.flatMap(({ file }) => (file.content === undefined ? [file.blob] : [])));
  try {
    for (const [index, { file, expected }] of plan.placements.entries()) {
      signal?.throwIfAborted();
      const { path } = file;
      onStep('stage', path);
      const staged = String(index);
      await durable.add(async () =>
        stageFile(join(staging, staged), { file, expected }, content, (entry) => entries.set(path, entry)),
      );
      placed.push({ action: 'place', path, staged, expected });
    }
  } finally {
    await durable.settle();
  }
  durable.check();
  checkFields(tree, entries.values());
  const checkedAt = String(await volumeTime(folder));
  const manifest: Manifest = {
    commit,
    ref,
    settingsHash,
    loaded: false,
    checkedAt,
    files: entries,
    folders: plan.folders,
  };
  onStep('stage', STAGED_MANIFEST);
  await writeDurably(join(staging, STAGED_MANIFEST), formatManifest(manifest));
  await syncFolder(dirname(staging));
  const emptied = plan.emptied.map((path) => ({ action: 'delete-folder', path }) as const);
  return [...plan.cleared, ...placed, ...plan.deletions, ...emptied];
}

/** discardStaging removes the staged files of a sync that does not take place. */
export async function discardStaging(folder: DataFolder, id: string): Promise<void> {
  await rm(stagingPath(folder, id), { recursive: true, force: true });
}

/** checkFields throws if a field exists in no file: its path is wrong, and the value would silently not be set. */
export function checkFields(tree: DesiredTree, entries: Iterable<ManifestEntry>): void {
  const found = new Set<number>();
  for (const { fields = [], orphaned } of entries) {
    // A file that the commit no longer has is not evidence for a path.
    if (!orphaned) for (const field of fields) found.add(field);
  }
  for (const [index, jsonPath] of tree.fields.entries()) {
    if (found.has(index)) continue;
    throw new SyncError('TemplateFailed', {
      path: `normalize.fields[${index}]`,
      problem: `${jsonPath} exists in no config.json`,
      remedy: 'correct its jsonPath',
    });
  }
}

/**
 * Writes one staged file. The content is written at once, because a blob source is usually one process; the returned function
 * makes the file durable, while the next one is written.
 */
async function stageFile(
  path: string,
  { file }: Placement,
  content: ContentOptions,
  record: (entry: ManifestEntry) => void,
): Promise<() => Promise<void>> {
  if (isAlwaysExcluded(file.path)) {
    throw new SyncError('StagingDirectoryContainsRuntimeFiles', {
      path: file.path,
      problem: 'a file of the gateway or of the agent was staged',
      remedy: 'report this as a defect',
    });
  }
  const handle = await createFile(path, file.mode);
  try {
    const facts = await readContent(file, content, (chunk) => writeAll(handle, chunk));
    return async () => {
      try {
        const stats = await handle.stat({ bigint: true });
        // The mask of the process may have removed permissions.
        if (Number(stats.mode & 0o777n) !== file.mode) await handle.chmod(file.mode);
        await handle.sync();
        record({ ...entryOf(file, facts), ...fileStat(stats) });
      } finally {
        await handle.close();
      }
    };
  } catch (error) {
    await handle.close();
    throw fromSystem(error, file.path);
  }
}

/** Durable makes files durable in the background, a limited number at the same time. */
class Durable {
  readonly #pending = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | undefined;

  /** add waits for the content of a file, and until the number of pending files is within the limit. */
  async add(write: () => Promise<() => Promise<void>>): Promise<void> {
    this.check();
    const sync = await write();
    const pending = sync()
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => this.#pending.delete(pending));
    this.#pending.add(pending);
    while (this.#pending.size >= MAX_SYNCING) await Promise.race(this.#pending);
  }

  async settle(): Promise<void> {
    await Promise.all(this.#pending);
  }

  check(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}

async function checkSpace(
  folder: DataFolder,
  { placements, sizes }: SyncPlan,
  { limits }: SyncRequest,
  freeBytes: (path: string) => Promise<number>,
): Promise<void> {
  const bytes = placements.reduce((sum, { file }) => sum + (file.size ?? sizes.get(file.blob) ?? 0), 0);
  const max = limits?.maxTotalBytes ?? DEFAULT_LIMITS.maxTotalBytes;
  if (bytes > max) {
    throw new SyncError('TooLarge', {
      path: placements[0]?.file.path ?? '',
      problem: `the sync would write ${bytes} bytes, and at most ${max} are allowed`,
      remedy: 'map fewer folders, or exclude large files with excludePatterns',
    });
  }
  const free = await freeBytes(folder.path);
  if (free < bytes + RESERVED_BYTES)
    throw diskFull('.', `the data folder has ${free} free bytes, and ${bytes + RESERVED_BYTES} are needed`);
}

async function availableBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}
