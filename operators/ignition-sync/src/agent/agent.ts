import { between, type Clock, type Random, type WakeSignal } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import { objectNames } from '../api/names.ts';
import type { GatewayClient } from '../gateway/gateway-client.ts';
import { gatewayKey } from '../protocol/gateway-key.ts';
import type { SyncMetadata } from '../protocol/metadata.ts';
import type { Snapshots } from '../snapshots/snapshots.ts';
import { describeFailure } from './agent-error.ts';
import type { AgentMetrics } from './agent-metrics.ts';
import { checkStageHealth } from './checks/stage-health.ts';
import type { AgentEvents } from './cluster/agent-events.ts';
import type { SyncTrigger } from './cluster/audit-line.ts';
import type { MetadataSource } from './cluster/metadata-source.ts';
import type { StatusReporter } from './cluster/status-reporter.ts';
import type { DriftCheck } from './drift-check.ts';
import { GracePeriod } from './grace-period.ts';
import { readPodInfo } from './pod-info.ts';
import { type Rejection, Rejections } from './rejections.ts';
import type { StartGate } from './start-gate.ts';
import { type GatewaySync, type Placed, type PlaceOptions, placedBefore } from './sync/gateway-sync.ts';
import { LoadError, loadGateway } from './sync/load-gateway.ts';
import { rollbackTrigger, snapshotBefore } from './sync/rollback-choice.ts';
import type { SyncReport } from './sync-report.ts';
import { type AgentIdentity, type Decision, decide, type Target } from './target.ts';
import type { WatchedFiles } from './watched-files.ts';

/** AgentParts are the parts that an agent consists of. */
export interface AgentParts {
  readonly identity: AgentIdentity;
  readonly cr: string;
  readonly dataFolder: string;
  readonly podInfoFolder: string | undefined;
  /** How often the desired state is compared while no settings of the gateway are known. */
  readonly syncPeriodMs: number;
  readonly metadata: MetadataSource;
  readonly reporter: StatusReporter;
  readonly report: SyncReport;
  readonly events: AgentEvents;
  readonly metrics: AgentMetrics;
  readonly drift: DriftCheck;
  readonly watched: WatchedFiles;
  readonly sync: GatewaySync;
  readonly gate: StartGate;
  /** Returns the client of the gateway: its port may change. */
  readonly gatewayFor: (metadata: SyncMetadata | undefined) => GatewayClient;
  /** Returns where the snapshots of the gateway are. */
  readonly snapshotsFor: (target: Target) => Snapshots;
  readonly wake: WakeSignal;
  readonly clock: Clock;
  readonly wire: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** How long a gateway with an earlier state waits for the desired one. */
const START_WITH_LAST_MS = 60_000;
/** How long a sync takes before it is reported. */
const SYNCING_AFTER_MS = 2_000;
const ANSWER_INTERVAL_MS = 2_000;
const MIN_BACKOFF_MS = 30_000;
const MAX_BACKOFF_MS = 5 * 60_000;
/** The lock of a data folder may be released at any time. */
const MIN_RECOVERY_DELAY_MS = 2_000;
/** While nothing is known about the desired state, a change of that is not always announced. */
const UNKNOWN_INTERVAL_MS = 1_000;

/** FailedSync is a failed sync of one state. */
interface FailedSync {
  readonly key: string;
  readonly attempts: number;
  readonly retryAt: number;
}

/** Attempt is one sync to a state. */
interface Attempt {
  readonly target: Target;
  readonly trigger: SyncTrigger;
  readonly startedAt: number;
  /** Aborted when the agent stops: a sync without a journal is abandoned. */
  readonly signal: AbortSignal;
  /** Aborted some time later: a sync with a journal is finished until then. */
  readonly grace: AbortSignal;
}

/**
 * Agent keeps the files of one gateway at the desired state: it decides what to do, one sync at a time, and always with the latest
 * desired state. It survives every failure of Git, of the cluster and of the gateway.
 */
export class Agent {
  readonly #parts: AgentParts;
  readonly #clock: Clock;
  readonly #rejections: Rejections;
  /** The state whose files were placed, and the state that the gateway has loaded. */
  #placed: string | undefined;
  #loaded: string | undefined;
  #failed: FailedSync | undefined;
  /** Whether an earlier sync was complete. */
  #hasFiles = false;
  #isGatewayUp = false;
  #isForbidden = false;
  /** What the last sync was for, to tell why the next one takes place. */
  #last: { readonly trigger: string; readonly commit: string } | undefined;
  #metadata: SyncMetadata | undefined;

  constructor(parts: AgentParts) {
    this.#parts = parts;
    this.#clock = parts.clock;
    this.#rejections = new Rejections(parts.dataFolder);
  }

  /** run works until the signal is aborted. A sync whose journal exists is then finished within 15 s. */
  async run(signal: AbortSignal): Promise<void> {
    const { wake, gate } = this.#parts;
    using grace = new GracePeriod(signal, this.#clock);
    await this.#recover(signal);
    if (signal.aborted) return;
    using _startWithLast = this.#clock.setTimer(START_WITH_LAST_MS, () => this.#startWithLast());
    if (await this.#isAnswering(signal)) {
      this.#isGatewayUp = true;
      gate.open('the gateway runs already');
    }
    while (!signal.aborted) {
      const waitMs = await Promise.race([this.#safeTurn(signal, grace.signal), grace.ended]);
      await wake.wait(waitMs, signal);
    }
  }

  /** watchGateway is called when the gateway may start. It resolves when the gateway answers. */
  async watchGateway(signal: AbortSignal): Promise<void> {
    const { gate, metrics, wake } = this.#parts;
    if (this.#isGatewayUp) return;
    while (!(await this.#isAnswering(signal))) await this.#clock.sleep(ANSWER_INTERVAL_MS, signal);
    metrics.gatewayStartDuration.set(gate.openedMs / 1000);
    this.#isGatewayUp = true;
    wake.wake();
  }

  /** Finishes the sync of an agent that was killed, before anything else. */
  async #recover(signal: AbortSignal): Promise<void> {
    const { sync, metrics, gate, report, wake } = this.#parts;
    for (let attempt = 0; !signal.aborted; attempt++) {
      try {
        if (await sync.recover()) metrics.recoveries.add();
        this.#hasFiles = (await sync.manifest()) !== undefined;
        await this.#rejections.load();
        return;
      } catch (error) {
        const failure = describeFailure(error);
        gate.wait(failure.message);
        await this.#decide();
        report.failed(failure, undefined, error);
        await wake.wait(Math.min(MAX_BACKOFF_MS, MIN_RECOVERY_DELAY_MS * 2 ** Math.min(attempt, 8)), signal);
      }
    }
  }

  async #safeTurn(signal: AbortSignal, grace: AbortSignal): Promise<number> {
    try {
      return await this.#turn(signal, grace);
    } catch (error) {
      if (!signal.aborted) this.#parts.report.failed(describeFailure(error), undefined, error);
      return MIN_BACKOFF_MS;
    }
  }

  /** One step: returns how long nothing is to be done unless something changes. */
  async #turn(signal: AbortSignal, grace: AbortSignal): Promise<number> {
    const { gate, report, cr, drift, watched, syncPeriodMs } = this.#parts;
    const decision = await this.#decide();
    watched.isAllowed = decision.kind === 'sync';
    switch (decision.kind) {
      case 'sync':
        return await this.#pursue(decision.target, signal, grace);
      case 'waiting':
        if (decision.first !== undefined && !this.#hasFiles) return await this.#pursue(decision.first, signal, grace);
        gate.wait(decision.message);
        report.skipped('waiting', decision.message);
        break;
      case 'paused':
        gate.open('the sync is paused');
        report.skipped('paused', 'the sync is paused');
        break;
      case 'problem':
        gate.wait(decision.failure.message);
        report.failed(decision.failure, decision.hash);
        break;
      case 'missing':
        gate.wait(`the ConfigMap ${objectNames(cr).metadata} does not exist`);
        report.skipped('missing', gate.reason);
        break;
      default:
        return UNKNOWN_INTERVAL_MS;
    }
    if (this.#hasFiles) await drift.check(signal);
    return Math.min(syncPeriodMs, this.#hasFiles ? drift.dueInMs : syncPeriodMs);
  }

  /** Brings the gateway closer to a state, if it is not there yet and the last failure is long enough ago. */
  async #pursue(target: Target, signal: AbortSignal, grace: AbortSignal): Promise<number> {
    const { drift } = this.#parts;
    const { key, settings } = target;
    const isDone = this.#isGatewayUp ? this.#loaded === key : this.#placed === key;
    const startedAt = this.#clock.monotonic();
    const retryInMs = this.#failed?.key === key ? this.#failed.retryAt - startedAt : 0;
    if (!isDone && retryInMs > 0) return Math.min(retryInMs, settings.syncPeriodMs);
    const isDrifted = isDone && this.#hasFiles && (await drift.check(signal));
    if (isDone && !(isDrifted && this.#restoresDrift(target))) return Math.min(settings.syncPeriodMs, drift.dueInMs);
    const trigger = isDone ? 'drift' : this.#triggerOf(target);
    await this.#attempt({ target, trigger, startedAt, signal, grace });
    return 0;
  }

  async #attempt(attempt: Attempt): Promise<void> {
    const { metrics, reporter, watched } = this.#parts;
    const { startedAt, signal, grace } = attempt;
    watched.pause();
    using _slow = this.#clock.setTimer(SYNCING_AFTER_MS, () => reporter.update({ syncStatus: 'Syncing' }));
    try {
      await this.#bring(attempt);
      this.#failed = undefined;
    } catch (error) {
      // The agent stops: its next start continues.
      if (signal.aborted && (grace.aborted || error === signal.reason)) return;
      this.#fail(attempt, error);
    } finally {
      metrics.syncDuration.observe((this.#clock.monotonic() - startedAt) / 1000);
      metrics.lastSyncTimestamp.set(this.#clock.now() / 1000);
    }
  }

  async #bring(attempt: Attempt): Promise<void> {
    const { gate, report } = this.#parts;
    const { target, grace } = attempt;
    const rejection = await this.#rejections.find(target.plan.commit, target.metadata.trigger);
    const snapshot = rejection?.snapshot ?? target.snapshot;
    const placed = await (snapshot === undefined ? this.#place(attempt) : this.#restore(snapshot, attempt));
    this.#announcePlaced(placed);
    this.#placed = target.key;
    this.#hasFiles ||= !placed.isDryRun;
    gate.open(placed.isDryRun ? 'its profile only reports changes' : 'its files are placed');
    if (!this.#isGatewayUp) {
      report.pending(target);
      return;
    }
    try {
      const scanResult = await this.#load(target, placed, grace);
      const stageHealth = rejection ? undefined : await this.#health(target, grace);
      const trigger = snapshot === undefined ? attempt.trigger : 'rollback';
      await this.#complete({ ...attempt, trigger }, { placed, scanResult, stageHealth, rejection });
    } catch (error) {
      if (snapshot !== undefined || !(await this.#rejects(target, error))) throw error;
      await this.#bring({ ...attempt, trigger: 'rollback' });
    }
  }

  async #place({ target, signal }: Attempt): Promise<Placed> {
    return await this.#parts.sync.place(target, this.#placeOptions(target, signal));
  }

  /** A gateway that is at the snapshot already keeps it, also when the snapshot no longer exists. */
  async #restore(id: string, { target, signal }: Attempt): Promise<Placed> {
    const { sync, snapshotsFor, metrics } = this.#parts;
    const manifest = await sync.manifest();
    if (manifest?.settingsHash === `snapshot ${id}`) return placedBefore(manifest);
    const options = { ...this.#placeOptions(target, signal), snapshots: snapshotsFor(target) };
    const placed = await sync.restore(id, target, options);
    if (!this.#rejections.isActive) metrics.rollbacks.add({ trigger: 'manual' });
    return placed;
  }

  #placeOptions(target: Target, signal: AbortSignal): PlaceOptions {
    const { gatewayFor, snapshotsFor } = this.#parts;
    const gateway = this.#isGatewayUp ? gatewayFor(target.metadata) : undefined;
    const isEnabled = target.metadata.settings.snapshots?.enabled ?? false;
    return { gateway, snapshots: isEnabled ? snapshotsFor(target) : undefined, signal };
  }

  /** Makes the gateway load what was placed, and returns the result; undefined if it has loaded it before. */
  async #load(target: Target, placed: Placed, grace: AbortSignal): Promise<string | undefined> {
    const { gatewayFor, metrics, sync } = this.#parts;
    if (placed.isLoaded || placed.isDryRun) return undefined;
    const options = { clock: this.#clock, metrics, signal: grace };
    const result = await loadGateway(gatewayFor(target.metadata), placed.projects, options);
    // Otherwise the health check decides.
    if (target.plan.healthCheckUrl === undefined || this.#rejections.isActive) await sync.markLoaded();
    return result;
  }

  async #health(target: Target, grace: AbortSignal): Promise<'Healthy' | 'Unhealthy' | undefined> {
    const { wire, log, sync } = this.#parts;
    const { healthCheckUrl } = target.plan;
    if (healthCheckUrl === undefined || target.settings.dryRun) return undefined;
    const problem = await checkStageHealth(healthCheckUrl, { signal: grace, clock: this.#clock, wire });
    if (problem !== undefined) {
      const failure = new LoadError('HealthCheckFailed', problem, ['healthCheckFailure']);
      if (rollbackTrigger(failure, target) !== undefined) throw failure;
      log.warn('the health check of the stage failed', { problem });
    }
    await sync.markLoaded();
    return problem === undefined ? 'Healthy' : 'Unhealthy';
  }

  async #complete(
    { target, trigger, startedAt }: Attempt,
    result: {
      readonly placed: Placed;
      readonly scanResult: string | undefined;
      readonly stageHealth: 'Healthy' | 'Unhealthy' | undefined;
      readonly rejection: Rejection | undefined;
    },
  ): Promise<void> {
    const { report, drift, watched } = this.#parts;
    const { rejection, placed } = result;
    if (rejection?.isDone === false) await this.#rejections.set({ ...rejection, isDone: true });
    this.#loaded = target.key;
    this.#last = { trigger: target.metadata.trigger, commit: target.plan.commit };
    if (!placed.isDryRun) drift.ended();
    report.completed({ target, trigger, startedAt, ...result });
    watched.loaded(target, placed.files);
  }

  #announcePlaced({ backups, recovery }: Placed): void {
    const { events, log, identity, metrics } = this.#parts;
    if (recovery.outcome === 'finished') metrics.recoveries.add();
    const kept = backups.kept + recovery.backups.kept;
    const notKept = backups.notKept + recovery.backups.notKept;
    if (kept > 0) log.info('files of the gateway were replaced and backed up', { files: kept });
    if (notKept === 0) return;
    const note = `gateway ${identity.gatewayName}: ${notKept} replaced files were too large to be backed up`;
    events.record('ReplacedNotKept', note);
  }

  /** Records that a commit is not tried again. Returns false if it is, or if there is no state to return to. */
  async #rejects(target: Target, error: unknown): Promise<boolean> {
    const { snapshotsFor, log, metrics } = this.#parts;
    const { plan, metadata } = target;
    const trigger = error instanceof LoadError ? rollbackTrigger(error, target) : undefined;
    if (trigger === undefined) return false;
    const snapshot = snapshotBefore(await snapshotsFor(target).list(new AbortController().signal), plan.commit);
    if (snapshot === undefined) {
      log.warn('the gateway has no earlier state to return to', { commit: plan.commit });
      return false;
    }
    const about = { commit: plan.commit, trigger: metadata.trigger, snapshot: snapshot.id, isDone: false };
    await this.#rejections.set({ ...about, ...describeFailure(error) });
    metrics.rollbacks.add({ trigger });
    return true;
  }

  #fail({ target, trigger, startedAt }: Attempt, error: unknown): void {
    const { gate, report, metrics, random } = this.#parts;
    const failure = describeFailure(error);
    const attempts = this.#failed?.key === target.key ? this.#failed.attempts + 1 : 1;
    const backoffMs = Math.min(MAX_BACKOFF_MS, MIN_BACKOFF_MS * 2 ** Math.min(attempts - 1, 8));
    const retryAt = this.#clock.monotonic() + backoffMs * between(random, 1, 1.1);
    this.#failed = { key: target.key, attempts, retryAt };
    metrics.syncs.add({ result: 'failure' });
    metrics.lastSyncSuccess.set(0);
    gate.wait(failure.message);
    report.failed(failure, target.hash, error);
    report.audit(target, trigger, startedAt, { result: failure.reason });
  }

  /** Files of a snapshot cannot be restored: it has only what one sync changed. */
  #restoresDrift({ metadata, snapshot, settings }: Target): boolean {
    const isCommit = snapshot === undefined && !this.#rejections.isActive;
    return metadata.settings.drift === 'Restore' && isCommit && !settings.dryRun;
  }

  #startWithLast(): void {
    const { gate, events, identity } = this.#parts;
    const policy = this.#metadata?.settings.startPolicy ?? 'StartWithLast';
    if (gate.isOpen || !this.#hasFiles || policy !== 'StartWithLast') return;
    const note = `gateway ${identity.gatewayName} starts with the files of its last sync: ${gate.reason}`;
    events.record('StartedWithLast', note);
    gate.open('the desired state could not be placed in time, and the gateway has the files of an earlier sync');
  }

  /** Decides what to do, and takes over where to report and what events are about. */
  async #decide(): Promise<Decision> {
    const { reporter, report, events, identity, metadata: source, podInfoFolder } = this.#parts;
    const decision = decide(source.observe(), await readPodInfo(podInfoFolder), identity);
    const metadata = metadataOf(decision);
    if (decision.kind === 'sync') report.resumed();
    if (decision.kind === 'forbidden') this.#logForbidden();
    this.#isForbidden = decision.kind === 'forbidden';
    if (metadata !== undefined) {
      this.#metadata = metadata;
      events.isAbout(metadata.crUID);
    }
    if (metadata !== undefined || decision.kind === 'problem')
      reporter.reportAs(metadata?.plan[identity.podName]?.key ?? gatewayKey(identity.podName), metadata?.statusUID);
    return decision;
  }

  #logForbidden(): void {
    const { log, cr, identity, gate } = this.#parts;
    if (this.#isForbidden) return;
    const names = objectNames(cr);
    gate.wait(`the RoleBinding ${names.agent} does not name the ServiceAccount of this pod`);
    log.warn('the agent may not read its ConfigMap; the RoleBinding must name the ServiceAccount of this pod', {
      configMap: `${identity.namespace}/${names.metadata}`,
      roleBinding: `${identity.namespace}/${names.agent}`,
    });
  }

  async #isAnswering(signal: AbortSignal): Promise<boolean> {
    return await this.#parts.gatewayFor(this.#metadata).isAnswering(signal);
  }

  #triggerOf({ metadata, plan }: Target): SyncTrigger {
    if (this.#last !== undefined && this.#last.trigger !== metadata.trigger) return 'webhook';
    return this.#last?.commit === plan.commit ? 'manual' : 'polling';
  }
}

function metadataOf(decision: Decision): SyncMetadata | undefined {
  if (decision.kind === 'sync') return decision.target.metadata;
  return 'metadata' in decision ? decision.metadata : undefined;
}
