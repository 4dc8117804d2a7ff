import { randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '@bowline/machinery';
import { DataFolder } from '../files/data-folder.ts';
import { probeNames } from '../files/probe-names.ts';
import { type BackupLimits, Backups, backupName } from '../state/backups.ts';
import { FolderLock } from '../state/folder-lock.ts';
import { type Journal, writeJournal } from '../state/journal.ts';
import { type Manifest, readManifest, writeManifest } from '../state/manifest.ts';
import type { NameRules } from '../tree/fold-path.ts';
import { applyJournal } from './apply.ts';
import { type DriftedFile, findDrift } from './drift.ts';
import { planSync, type SyncPlan } from './plan.ts';
import { type Recovery, recover } from './recover.ts';
import { checkFields, discardStaging, stageSync } from './stage.ts';
import type { Change, SyncRequest, SyncStep } from './sync-request.ts';
import { fromSystem } from './system-error.ts';

/** SyncHooks are called between the steps of a sync. */
export interface SyncHooks {
  /** Called before anything is staged: policies and snapshots. An error stops the sync, and nothing has changed. */
  readonly beforeStage?: ((plan: SyncPlan) => Promise<void>) | undefined;
  /**
   * Called when the journal is complete, before the first live file changes: scan locks. An error leaves the sync to the next
   * recovery, so a refusal by the gateway must not be one.
   */
  readonly beforeApply?: ((plan: SyncPlan) => Promise<void>) | undefined;
  /** Called before every step, and before every change of a file within it. */
  readonly onStep?: ((step: SyncStep, path?: string) => void) | undefined;
}

/** SyncEngineOptions configures the sync engine of a gateway. */
export interface SyncEngineOptions {
  readonly dataFolder: string;
  /** Identifies the pod. */
  readonly holder: string;
  readonly hooks?: SyncHooks | undefined;
  readonly backupLimits?: BackupLimits | undefined;
  /** Defaults to the system clock. */
  readonly clock?: Clock | undefined;
  /** Returns the free bytes of the file system of a path. Defaults to what the system reports. */
  readonly freeBytes?: ((path: string) => Promise<number>) | undefined;
}

/** SyncResult is what a sync did. */
export interface SyncResult {
  readonly changes: readonly Change[];
  readonly projects: readonly string[];
  /** Whether the gateway has already loaded this state. Otherwise it has to scan. */
  readonly isLoaded: boolean;
  /** How many files of the gateway were backed up, and how many did not fit. */
  readonly backups: { readonly kept: number; readonly notKept: number };
  /** What was found of an earlier sync. */
  readonly recovery: Recovery;
}

/**
 * SyncEngine brings the files of a gateway's data folder to a desired state. A sync is staged completely before the first live
 * file changes; once its journal exists, it is finished even if the process is killed: the next `recover` does the rest. Calls
 * run one after the other.
 */
export class SyncEngine implements AsyncDisposable {
  readonly #options: SyncEngineOptions;
  #open: Promise<OpenFolder> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: SyncEngineOptions) {
    this.#options = options;
  }

  /** recover takes the lock, and finishes or discards the sync of an agent that was killed. */
  recover(): Promise<Recovery> {
    return this.#serially(async (open) => this.#recover(open));
  }

  /** names returns which names the data folder distinguishes, for `desiredTree`. */
  names(): Promise<NameRules> {
    return this.#serially(async ({ names }) => names);
  }

  /** manifest returns the result of the last complete sync, or undefined. */
  manifest(): Promise<Manifest | undefined> {
    return this.#serially(({ folder }) => readManifest(folder));
  }

  /** plan returns what a sync would change. Content is read only where it decides. */
  plan(request: SyncRequest): Promise<SyncPlan> {
    return this.#serially(async (open) => {
      await this.#recover(open);
      return await this.#plan(open, request, await readManifest(open.folder));
    });
  }

  /** sync brings the files to the desired state, or throws `SyncError`. */
  sync(request: SyncRequest): Promise<SyncResult> {
    return this.#serially(async (open) => {
      const recovery = await this.#recover(open);
      const manifest = await readManifest(open.folder);
      const plan = await this.#plan(open, request, manifest);
      const { changes, projects } = plan;
      if (changes.length + plan.emptied.length === 0) {
        const isLoaded = await this.#keepManifest(open, request, plan, manifest);
        return { changes, projects, isLoaded, backups: { kept: 0, notKept: 0 }, recovery };
      }
      const { kept, notKept } = await this.#change(open, request, plan);
      return { changes, projects, isLoaded: false, backups: { kept, notKept }, recovery };
    });
  }

  /** markLoaded records that the gateway has loaded the files of the last sync. */
  markLoaded(): Promise<void> {
    return this.#serially(async ({ folder }) => {
      const manifest = await readManifest(folder);
      if (manifest === undefined || manifest.loaded) return;
      this.#onStep('loaded');
      await keep(folder, { ...manifest, loaded: true });
    });
  }

  /** drift returns the managed files that differ from what the last sync placed. */
  drift(signal?: AbortSignal): Promise<readonly DriftedFile[]> {
    return this.#serially(async ({ folder }) => {
      const manifest = await readManifest(folder);
      return manifest === undefined ? [] : await findDrift(folder, manifest, signal);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#last;
    const open = await this.#open?.catch(() => undefined);
    this.#open = undefined;
    await open?.lock[Symbol.asyncDispose]();
  }

  #serially<T>(work: (open: OpenFolder) => Promise<T>): Promise<T> {
    const result = this.#last.then(async () => work(await this.#opened()));
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** An attempt that failed, for instance because another agent holds the lock, is repeated by the next call. */
  async #opened(): Promise<OpenFolder> {
    this.#open ??= this.#acquire();
    try {
      return await this.#open;
    } catch (error) {
      this.#open = undefined;
      throw fromSystem(error, '.ignition-sync');
    }
  }

  async #acquire(): Promise<OpenFolder> {
    const { dataFolder, holder, clock } = this.#options;
    this.#onStep('lock');
    const folder = await DataFolder.open(dataFolder);
    // Before the lock, which would have to be released if the probe failed.
    const names = await probeNames(folder);
    return { folder, names, lock: await FolderLock.acquire(folder, { holder, clock }) };
  }

  async #recover({ folder, lock }: OpenFolder): Promise<Recovery> {
    this.#onStep('recover');
    await lock.check();
    return await recover(folder, { onStep: this.#onStep, backupLimits: this.#options.backupLimits });
  }

  async #plan({ folder, names }: OpenFolder, request: SyncRequest, manifest: Manifest | undefined): Promise<SyncPlan> {
    this.#onStep('compare');
    return await planSync(folder, request, manifest, names);
  }

  /** No file differs: only what the manifest records may. */
  async #keepManifest(
    { folder }: OpenFolder,
    { commit, ref, settingsHash, tree }: SyncRequest,
    { kept: files, folders, checkedAt }: SyncPlan,
    manifest: Manifest | undefined,
  ): Promise<boolean> {
    checkFields(tree, files.values());
    const loaded = manifest?.loaded ?? false;
    const next: Manifest = { commit, ref, settingsHash, loaded, checkedAt, files, folders };
    if (manifest === undefined || !isSameManifest(next, manifest)) await keep(folder, next);
    return loaded;
  }

  async #change({ folder, lock }: OpenFolder, request: SyncRequest, plan: SyncPlan): Promise<Backups> {
    const { hooks, clock = systemClock, freeBytes, backupLimits } = this.#options;
    const { commit, ref, settingsHash, signal } = request;
    const id = randomBytes(8).toString('hex');
    const onStep = this.#onStep;
    const backup = backupName(clock.now());
    onStep('before-stage');
    await hooks?.beforeStage?.(plan);
    let journal: Journal;
    try {
      const operations = await stageSync(folder, id, plan, request, { onStep, freeBytes });
      journal = { id, commit, ref, settingsHash, backup, operations };
      await lock.check();
      signal?.throwIfAborted();
    } catch (error) {
      await discardStaging(folder, id);
      throw fromSystem(error, '.ignition-sync/staging');
    }
    onStep('journal');
    await writeJournal(folder, journal).catch((error: unknown) => {
      throw fromSystem(error, '.ignition-sync/journal.json');
    });
    onStep('before-apply');
    await hooks?.beforeApply?.(plan);
    const backups = new Backups(folder, backup, backupLimits);
    await applyJournal(folder, journal, { onStep, backups });
    return backups;
  }

  readonly #onStep = (step: SyncStep, path?: string): void => {
    this.#options.hooks?.onStep?.(step, path);
  };
}

interface OpenFolder {
  readonly folder: DataFolder;
  readonly lock: FolderLock;
  readonly names: NameRules;
}

function isSameManifest(next: Manifest, manifest: Manifest): boolean {
  const isSameHeader =
    next.commit === manifest.commit && next.ref === manifest.ref && next.settingsHash === manifest.settingsHash;
  const isSameFolders = next.folders.join('\n') === manifest.folders.join('\n');
  if (!isSameHeader || !isSameFolders || next.files.size !== manifest.files.size) return false;
  // Entries that did not change are the same objects.
  for (const [path, entry] of next.files) if (manifest.files.get(path) !== entry) return false;
  return true;
}

/** keep writes the manifest, for which the volume may have no space although no file of the gateway changes. */
async function keep(folder: DataFolder, manifest: Manifest): Promise<void> {
  try {
    await writeManifest(folder, manifest);
  } catch (error) {
    throw fromSystem(error, '.ignition-sync/manifest.json');
  }
}
