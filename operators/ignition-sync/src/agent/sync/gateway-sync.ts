import type { Clock } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import { heldFiles, watchedBy } from '../../bidirectional/agent/held-files.ts';
import type { Manifest } from '../../engine/state/manifest.ts';
import type { SyncPlan } from '../../engine/sync/plan.ts';
import { SyncEngine, type SyncResult } from '../../engine/sync/sync-engine.ts';
import type { Change, SyncRequest, SyncStep } from '../../engine/sync/sync-request.ts';
import { SyncError } from '../../engine/sync-error.ts';
import { desiredTree } from '../../engine/tree/desired-tree.ts';
import type { DesiredFile } from '../../engine/tree/tree-entry.ts';
import { respectDesigners } from '../../gateway/designer-policy.ts';
import type { GatewayClient } from '../../gateway/gateway-client.ts';
import { respectPerspective } from '../../gateway/perspective-policy.ts';
import { SnapshotError } from '../../snapshots/snapshot-error.ts';
import type { SnapshotRecord } from '../../snapshots/snapshot-index.ts';
import type { Snapshots } from '../../snapshots/snapshots.ts';
import type { AgentMetrics } from '../agent-metrics.ts';
import { validateChanges } from '../checks/validation-webhook.ts';
import type { AgentRepository } from '../source/agent-repository.ts';
import { treeSources } from '../source/tree-sources.ts';
import type { Target } from '../target.ts';
import {
  affectedProjects,
  type ChangeCounts,
  countChanges,
  projectsIn,
  reportChanges,
  scannedKinds,
} from './describe-changes.ts';

/** GatewaySyncOptions configures the syncs of one gateway. */
export interface GatewaySyncOptions {
  readonly dataFolder: string;
  readonly podName: string;
  readonly namespace: string;
  readonly cr: string;
  readonly repository: AgentRepository;
  readonly clock: Clock;
  readonly wire: Clock;
  readonly log: Log;
  readonly metrics: AgentMetrics;
  /** Called with the number of Designers that a sync waits for; 0 when it no longer waits. */
  readonly onDesigners: (sessions: number) => void;
  /** Called before every step. Defaults to nothing. */
  readonly onStep?: ((step: SyncStep, path?: string) => void) | undefined;
  /** Returns the free bytes of the file system of a path. Defaults to what the system reports. */
  readonly freeBytes?: ((path: string) => Promise<number>) | undefined;
}

/** PlaceOptions configures one sync. */
export interface PlaceOptions {
  /** The gateway, if it runs. Undefined: it cannot be asked, and has loaded nothing. */
  readonly gateway: GatewayClient | undefined;
  /** Where snapshots are kept. Undefined: none is taken. */
  readonly snapshots: Snapshots | undefined;
  /** Aborts the sync until its journal is complete. */
  readonly signal: AbortSignal;
}

/** Placed is the result of a sync: the files have the desired state. */
export interface Placed {
  readonly commit: string;
  readonly ref: string;
  readonly changes: readonly Change[];
  readonly counts: ChangeCounts;
  /** The projects that the gateway should load. */
  readonly projects: readonly string[];
  /** Whether the gateway has already loaded this state. */
  readonly isLoaded: boolean;
  /** Whether the changes were only determined. */
  readonly isDryRun: boolean;
  readonly snapshot: SnapshotRecord | undefined;
  readonly backups: SyncResult['backups'];
  readonly recovery: SyncResult['recovery'];
  /** The files of the commit, by path. Undefined for a snapshot. */
  readonly files?: ReadonlyMap<string, DesiredFile> | undefined;
}

interface CurrentSync extends PlaceOptions {
  readonly target: Target;
  readonly manifest: Manifest | undefined;
  readonly request: Pick<SyncRequest, 'commit' | 'ref' | 'settingsHash'>;
  snapshot: SnapshotRecord | undefined;
}

/** GatewaySync brings the files of the gateway to a commit or to a snapshot, one sync at a time. */
export class GatewaySync implements AsyncDisposable {
  readonly #options: GatewaySyncOptions;
  #engine: SyncEngine;
  #current: CurrentSync | undefined;

  constructor(options: GatewaySyncOptions) {
    this.#options = options;
    this.#engine = this.#createEngine();
  }

  /** recover finishes or discards the sync of an agent that was killed, and returns whether one was finished. */
  async recover(): Promise<boolean> {
    const { outcome } = await this.#guarded(() => this.#engine.recover());
    if (outcome !== 'none') this.#options.log.info('recovered an earlier sync', { outcome });
    return outcome === 'finished';
  }

  /** manifest returns the result of the last complete sync, or undefined. */
  manifest(): Promise<Manifest | undefined> {
    return this.#guarded(() => this.#engine.manifest());
  }

  /** markLoaded records that the gateway has loaded the files. */
  markLoaded(): Promise<void> {
    return this.#guarded(() => this.#engine.markLoaded());
  }

  /** drift returns the paths of managed files that differ from what the last sync placed. */
  async drift(signal: AbortSignal): Promise<readonly string[]> {
    return (await this.#guarded(() => this.#engine.drift(signal))).map(({ path }) => path);
  }

  /** place brings the files to the commit of a target. */
  async place(target: Target, options: PlaceOptions): Promise<Placed> {
    const { metadata, plan, settings } = target;
    const { signal } = options;
    await using commit = await this.#options.repository.open(metadata, plan.commit, plan.ref, signal);
    const names = await this.#guarded(() => this.#engine.names());
    const listing = await commit.list(treeSources(settings.tree), signal);
    const tree = desiredTree(listing, { ...settings.tree, names });
    const request: SyncRequest = {
      commit: plan.commit,
      ref: plan.ref,
      settingsHash: target.key,
      tree,
      blobs: commit.blobs,
      lfs: commit.lfs,
      prune: metadata.settings.prune,
      held: new Set([
        ...heldFiles(tree.files.values(), plan.held),
        ...(await this.#changedOnGateway(target, tree.files, signal)),
      ]),
      signal,
    };
    if (settings.dryRun) return await this.#dryRun(request);
    return { ...(await this.#sync(target, request, options, projectsIn(tree))), files: tree.files };
  }

  /**
   * Returns the watched files that were changed on the gateway and not in Git since the last sync. They stay, unless Git wins: they are
   * on a branch, and another sync for any reason would overwrite them.
   */
  async #changedOnGateway(
    { metadata: { settings } }: Target,
    files: ReadonlyMap<string, DesiredFile>,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const { enabled, conflictStrategy, watchPaths = [] } = settings.bidirectional ?? {};
    if (!enabled || conflictStrategy === 'gitWins' || settings.drift === 'Restore') return [];
    const manifest = await this.manifest();
    // What a gateway does before it has loaded the files is no change of a user.
    if (!manifest?.loaded) return [];
    const isWatched = watchedBy(watchPaths);
    return (await this.drift(signal)).filter((path) => {
      const [entry, file] = [manifest.files.get(path), files.get(path)];
      return isWatched(path) && entry?.blob === file?.blob && entry?.transform === file?.transformHash;
    });
  }

  /** restore brings the files to a snapshot. It throws RollbackFailed if the snapshot cannot be used; no file has changed then. */
  async restore(
    id: string,
    target: Target,
    options: PlaceOptions & { readonly snapshots: Snapshots },
  ): Promise<Placed> {
    const { snapshots, signal } = options;
    const manifest = await this.manifest();
    await using restoration = await snapshots.restore(id, manifest, signal);
    try {
      return await this.#sync(target, restoration.request, options, projectsIn(restoration.request.tree));
    } catch (error) {
      // What a sync refuses in a commit, it refuses in a snapshot.
      if (!(error instanceof SyncError) || error.retryable) throw error;
      throw new SnapshotError('RollbackFailed', `cannot return to the snapshot ${id}: ${error.message}`, {
        cause: error,
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#engine[Symbol.asyncDispose]();
  }

  async #dryRun(request: SyncRequest): Promise<Placed> {
    const manifest = await this.manifest();
    const plan = await this.#guarded(() => this.#engine.plan(request));
    this.#logChanges(plan, manifest, request.commit);
    const before = placedBefore(manifest ?? { commit: '', ref: '', loaded: true });
    return { ...before, counts: countChanges(plan.changes), isLoaded: true, isDryRun: true };
  }

  async #sync(
    target: Target,
    request: SyncRequest,
    options: PlaceOptions,
    projects: readonly string[],
  ): Promise<Placed> {
    const { metrics } = this.#options;
    const manifest = await this.manifest();
    const current: CurrentSync = { ...options, target, manifest, request, snapshot: undefined };
    this.#current = current;
    try {
      const result = await this.#guarded(() => this.#engine.sync(request));
      for (const { action } of result.changes) metrics.files.add({ action });
      const { changes, isLoaded, backups, recovery } = result;
      const { commit, ref } = request;
      const counts = countChanges(changes);
      return {
        commit,
        ref,
        changes,
        counts,
        projects,
        isLoaded,
        isDryRun: false,
        snapshot: current.snapshot,
        backups,
        recovery,
      };
    } finally {
      this.#current = undefined;
    }
  }

  /** Policies and the snapshot: what may stop a sync before a file changes. */
  async #beforeStage(plan: SyncPlan): Promise<void> {
    const current = this.#current;
    if (current === undefined) return;
    const { target, manifest, request, gateway, snapshots, signal } = current;
    const { validation } = target.metadata.settings;
    if (validation?.dryRunBefore) this.#logChanges(plan, manifest, request.commit);
    if (validation?.webhook !== undefined) await this.#validate(validation.webhook, plan, current);
    if (gateway !== undefined) await this.#respectUsers(plan, target, gateway, signal);
    if (snapshots !== undefined) current.snapshot = await this.#save(plan, current, snapshots);
    const bytes = plan.placements.reduce((sum, { file }) => sum + (file.size ?? plan.sizes.get(file.blob) ?? 0), 0);
    this.#options.metrics.bytesWritten.add({}, bytes);
  }

  async #validate(
    webhook: { readonly url: string; readonly timeout: string },
    { changes }: SyncPlan,
    { target, manifest, request, signal }: CurrentSync,
  ): Promise<void> {
    const { cr, namespace, wire } = this.#options;
    const { commit: toCommit, ref } = request;
    const about = { cr, namespace, gateway: target.plan.name, fromCommit: manifest?.commit, toCommit, ref, changes };
    await validateChanges(webhook, about, { signal, wire });
  }

  async #respectUsers(
    plan: SyncPlan,
    { settings }: Target,
    gateway: GatewayClient,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, log, metrics, onDesigners } = this.#options;
    const onWaiting = (sessions: number): void => {
      metrics.designerSessions.set(sessions);
      onDesigners(sessions);
    };
    try {
      await respectDesigners(
        {
          gateway,
          policy: settings.designerSessionPolicy,
          timeoutMs: settings.designerSessionTimeoutMs,
          affected: affectedProjects(plan),
          clock,
          log,
          onWaiting,
        },
        signal,
      );
    } finally {
      metrics.designerSessions.set(0);
      onDesigners(0);
    }
    const { perspectiveSessionPolicy: policy, perspectiveSessionTimeoutMs: timeoutMs } = settings;
    const sessions = await respectPerspective({ gateway, policy, timeoutMs, clock, log }, signal);
    if (sessions) log.info('the sync changes files while Perspective sessions are open', { sessions });
  }

  async #save(
    { changes }: SyncPlan,
    { manifest, request, signal }: CurrentSync,
    snapshots: Snapshots,
  ): Promise<SnapshotRecord> {
    const { metrics } = this.#options;
    try {
      const { commit, settingsHash: settings } = request;
      const record = await snapshots.create(changes, manifest, { commit, settings }, signal);
      metrics.snapshots.add({ result: 'success' });
      return record;
    } catch (error) {
      metrics.snapshots.add({ result: 'failure' });
      throw error;
    }
  }

  /** Scan locks. The journal exists: no error may stop the sync here, not even a stop of the agent. */
  async #beforeApply(plan: SyncPlan): Promise<void> {
    const { gateway } = this.#current ?? {};
    if (gateway === undefined) return;
    const { signal } = new AbortController();
    for (const kind of scannedKinds(plan)) await gateway.lockScans(kind, signal);
  }

  #logChanges(plan: SyncPlan, manifest: Manifest | undefined, commit: string): void {
    this.#options.log.debug('the sync would change files', { ...reportChanges(plan, manifest, commit) });
  }

  #createEngine(): SyncEngine {
    const { dataFolder, podName: holder, clock, onStep, freeBytes } = this.#options;
    return new SyncEngine({
      dataFolder,
      holder,
      clock,
      freeBytes,
      hooks: {
        beforeStage: (plan) => this.#beforeStage(plan),
        beforeApply: (plan) => this.#beforeApply(plan),
        onStep,
      },
    });
  }

  /** An engine that lost its lock to another agent never gets it back; another one waits for it. */
  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof SyncError && error.reason === 'DataFolderBusy') {
        await this.#engine[Symbol.asyncDispose]();
        this.#engine = this.#createEngine();
      }
      throw error;
    }
  }
}

/** placedBefore returns the result of a sync to the state that the files have already. */
export function placedBefore({ commit, ref, loaded }: Pick<Manifest, 'commit' | 'ref' | 'loaded'>): Placed {
  const backups = { kept: 0, notKept: 0 };
  return {
    commit,
    ref,
    changes: [],
    counts: countChanges([]),
    projects: [],
    isLoaded: loaded,
    isDryRun: false,
    snapshot: undefined,
    backups,
    recovery: { outcome: 'none', backups },
  };
}
