import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, formatTime } from '@bowline/machinery';
import { hasCode } from '../engine/files/has-code.ts';
import type { Manifest } from '../engine/state/manifest.ts';
import type { Change, SyncRequest } from '../engine/sync/sync-request.ts';
import { isAlwaysExcluded, STATE_FOLDER } from '../engine/tree/excluded-paths.ts';
import { archiveFiles } from './archive-files.ts';
import { RestoredFiles } from './restored-files.ts';
import { SnapshotError } from './snapshot-error.ts';
import { formatIndex, parseIndex, type SnapshotRecord, snapshotId } from './snapshot-index.ts';
import type { SnapshotStore } from './snapshot-store.ts';

/** SnapshotsOptions configures the snapshots of a gateway. */
export interface SnapshotsOptions {
  readonly dataFolder: string;
  /** The name of the gateway, with the characters of a key. */
  readonly gateway: string;
  readonly store: SnapshotStore;
  /** How many snapshots are kept. */
  readonly retentionCount: number;
  readonly clock: Clock;
}

/** SyncedState describes what a sync is about to bring. */
export interface SyncedState {
  readonly commit: string;
  readonly settings: string;
}

/** Restoration is the state before a sync, as the desired state of another sync. */
export interface Restoration extends AsyncDisposable {
  readonly record: SnapshotRecord;
  readonly request: SyncRequest;
}

/** How many snapshots a message names. */
const MAX_IDS = 5;

/** Snapshots keeps the files that syncs replace or delete, so that the state before a sync can be restored exactly. */
export class Snapshots {
  readonly #options: SnapshotsOptions;
  readonly #folder: string;

  constructor(options: SnapshotsOptions) {
    this.#options = options;
    this.#folder = join(options.dataFolder, STATE_FOLDER, 'snapshots');
  }

  /** snapshotsFolder returns where snapshots of a data folder are kept, and archives are written before they are stored. */
  static folderOf(dataFolder: string): string {
    return join(dataFolder, STATE_FOLDER, 'snapshots');
  }

  /** list returns the snapshots, the oldest first. A missing or damaged index has none. */
  async list(signal: AbortSignal): Promise<readonly SnapshotRecord[]> {
    return parseIndex((await this.#options.store.readIndex(signal)) ?? '') ?? [];
  }

  /** create saves what a sync changes. It throws SnapshotFailed, and then the sync must not take place. */
  async create(
    changes: readonly Change[],
    manifest: Manifest | undefined,
    next: SyncedState,
    signal: AbortSignal,
  ): Promise<SnapshotRecord> {
    try {
      return await this.#create(changes, manifest, next, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw new SnapshotError('SnapshotFailed', `cannot store a snapshot before the sync: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }

  /**
   * restore returns the state before the sync of a snapshot. It throws RollbackFailed for an unknown snapshot, and for one that is
   * damaged.
   */
  async restore(id: string, manifest: Manifest | undefined, signal: AbortSignal): Promise<Restoration> {
    try {
      return await this.#restore(id, manifest, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw new SnapshotError('RollbackFailed', `cannot return to the snapshot ${id}: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }

  async #create(
    changes: readonly Change[],
    manifest: Manifest | undefined,
    next: SyncedState,
    signal: AbortSignal,
  ): Promise<SnapshotRecord> {
    const { dataFolder, gateway, store, clock, retentionCount } = this.#options;
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await this.#removeUnfinished();
    const snapshots = await this.list(signal);
    const id = snapshotId(gateway, clock.now(), new Set(snapshots.map((each) => each.id)));
    const paths = (...actions: readonly Change['action'][]): readonly string[] =>
      changes.filter(({ action }) => actions.includes(action)).map(({ path }) => path);
    const content = { id, added: paths('add'), files: paths('modify', 'delete') };
    const target = join(this.#folder, `${id}.tmp`);
    try {
      const archive = await archiveFiles(target, content, (path) => join(dataFolder, path), signal);
      await store.put(archiveName(id), archive, signal);
      const record: SnapshotRecord = {
        id,
        timestamp: formatTime(clock.now()),
        size: archive.size,
        checksum: archive.checksum,
        fromCommit: manifest?.commit,
        fromRef: manifest?.ref,
        toCommit: next.commit,
        toSettings: next.settings,
      };
      const all = [...snapshots, record];
      const kept = all.slice(-retentionCount);
      await store.writeIndex(formatIndex(kept), signal);
      // After the index: an archive that it lists must exist.
      for (const old of all.slice(0, -retentionCount)) await store.remove(archiveName(old.id), signal);
      return record;
    } finally {
      await rm(target, { force: true });
    }
  }

  async #restore(id: string, manifest: Manifest | undefined, signal: AbortSignal): Promise<Restoration> {
    const { store } = this.#options;
    const text = await store.readIndex(signal);
    const snapshots = text === undefined ? [] : parseIndex(text);
    if (snapshots === undefined) throw new Error('the index of the snapshots is damaged; restore it or remove it');
    const start = snapshots.findIndex((each) => each.id === id);
    const record = snapshots[start];
    if (record === undefined) throw new Error(`it does not exist; ${alternatives(snapshots)}`);
    const files = await RestoredFiles.create(join(this.#folder, '..', 'restored'));
    try {
      // Later syncs changed other paths as well: their snapshots have what those were before.
      for (const each of snapshots.slice(start)) await this.#add(files, each, signal);
    } catch (error) {
      await files[Symbol.asyncDispose]();
      throw error;
    }
    const managed = manifest?.files.keys() ?? [];
    const request: SyncRequest = {
      commit: record.fromCommit ?? '',
      ref: record.fromRef ?? '',
      settingsHash: `snapshot ${id}`,
      tree: { files: files.files, roots: [], isExcluded: isAlwaysExcluded, fields: [] },
      blobs: files.blobs,
      held: new Set([...managed].filter((path) => !files.isDecided(path))),
      signal,
    };
    return { record, request, [Symbol.asyncDispose]: () => files[Symbol.asyncDispose]() };
  }

  async #add(files: RestoredFiles, { id, checksum }: SnapshotRecord, signal: AbortSignal): Promise<void> {
    const download = join(this.#folder, `${id}.tmp`);
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    try {
      const archive = await this.#options.store.get(archiveName(id), download, signal);
      await files.add(archive, checksum, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw new Error(`the archive of ${id} cannot be used: ${messageOf(error)}`, { cause: error });
    } finally {
      await rm(download, { force: true });
    }
  }

  async #removeUnfinished(): Promise<void> {
    for (const name of await readdir(this.#folder))
      if (name.endsWith('.tmp')) await rm(join(this.#folder, name), { force: true });
  }
}

/** alternatives returns what to request instead of an unknown snapshot. */
function alternatives(snapshots: readonly SnapshotRecord[]): string {
  if (snapshots.length === 0) return 'the gateway has no snapshots: remove spec.rollback';
  const latest = snapshots.slice(-MAX_IDS).map(({ id }) => id);
  return `set spec.rollback.toSnapshot to one of ${latest.join(', ')}, or remove spec.rollback`;
}

function archiveName(id: string): string {
  return `${id}.tar.gz`;
}

/** The messages of system calls contain absolute paths of the pod, which are no secret, but of no use. */
function messageOf(error: unknown): string {
  if (hasCode(error, 'ENOSPC', 'EDQUOT')) return 'the volume is full; free space on the volume of the gateway';
  if (hasCode(error, 'ENOENT')) return 'a file no longer exists';
  return error instanceof Error ? error.message : String(error);
}
