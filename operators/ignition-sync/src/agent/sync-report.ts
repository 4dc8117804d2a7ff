import { type Clock, formatTime } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import type { Failure } from './agent-error.ts';
import type { AgentMetrics, SKIP_REASONS } from './agent-metrics.ts';
import type { AgentEvents } from './cluster/agent-events.ts';
import { type SyncTrigger, writeAuditLine } from './cluster/audit-line.ts';
import type { ReportChange, StatusReporter } from './cluster/status-reporter.ts';
import type { Rejection } from './rejections.ts';
import type { Placed } from './sync/gateway-sync.ts';
import type { AgentIdentity, Target } from './target.ts';

/** SyncReportOptions configures where the results of syncs are reported. */
export interface SyncReportOptions {
  readonly identity: AgentIdentity;
  readonly cr: string;
  readonly version: string;
  readonly reporter: StatusReporter;
  readonly events: AgentEvents;
  readonly metrics: AgentMetrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** CompletedSync is a sync whose files the gateway has loaded, or that only determined what would change. */
export interface CompletedSync {
  readonly target: Target;
  readonly placed: Placed;
  readonly trigger: SyncTrigger;
  /** When it started, by the monotonic clock. */
  readonly startedAt: number;
  readonly scanResult: string | undefined;
  readonly stageHealth: 'Healthy' | 'Unhealthy' | undefined;
  /** The commit that was rolled back instead. */
  readonly rejection: Rejection | undefined;
}

const MAX_MESSAGE_LENGTH = 512;
const MAX_PROJECTS = 50;

/** SyncReport reports the results of syncs: in the status ConfigMap, as events, as metrics and in the log. */
export class SyncReport {
  readonly #options: SyncReportOptions;
  #lastSkip = '';

  constructor(options: SyncReportOptions) {
    this.#options = options;
  }

  /** pending reports that files are placed which the gateway has not loaded. */
  pending(target: Target): void {
    this.#options.reporter.update({
      syncStatus: 'Pending',
      appliedHash: target.hash,
      agentVersion: this.#options.version,
      errorReason: undefined,
      errorMessage: undefined,
      failedAt: undefined,
    });
  }

  /** completed reports the end of a sync. A sync that found nothing to do changes nothing. */
  completed(sync: CompletedSync): void {
    const { target, placed, trigger, scanResult, stageHealth, rejection } = sync;
    const { reporter, metrics } = this.#options;
    const before = reporter.report;
    const isNews = placed.changes.length > 0 || scanResult !== undefined || before.appliedHash !== target.hash;
    const syncStatus = rejection === undefined ? 'Synced' : 'Error';
    const isDryRun = placed.isDryRun || target.metadata.settings.validation?.dryRunBefore;
    metrics.syncs.add({ result: 'success' });
    metrics.lastSyncSuccess.set(rejection === undefined ? 1 : 0);
    reporter.update({
      syncStatus,
      appliedHash: target.hash,
      errorReason: rejection?.reason,
      errorMessage: rejection?.message,
      failedAt: undefined,
      rejectedCommit: rejection?.commit,
      sessionsBlocking: undefined,
      stageHealth,
      dryRun: isDryRun ? placed.counts : undefined,
      ...(placed.isDryRun ? {} : { syncedCommit: placed.commit, syncedRef: placed.ref }),
      ...(isNews ? this.#resultOf(sync) : {}),
    });
    if (!isNews && before.syncStatus === syncStatus) return;
    this.audit(target, trigger, sync.startedAt, { result: syncStatus, scanResult, placed });
    this.#recordCompleted(sync);
  }

  /** failed reports a failure: with an event when it begins, or is about another state. */
  failed({ reason, message }: Failure, hash: string | undefined, error?: unknown): void {
    const { reporter, events, log, identity, version, clock } = this.#options;
    const before = reporter.report;
    const isNews = before.syncStatus !== 'Error' || before.errorReason !== reason || before.appliedHash !== hash;
    reporter.update({
      syncStatus: 'Error',
      appliedHash: hash,
      errorReason: reason,
      errorMessage: message.slice(0, MAX_MESSAGE_LENGTH),
      ...(isNews ? { failedAt: formatTime(clock.now()) } : {}),
      sessionsBlocking: undefined,
      agentVersion: version,
    });
    if (!isNews) return;
    log.warn('the sync failed', { reason, problem: message, ...(error === undefined ? {} : { error }) });
    const event = reason === 'DesignerSessionsBlocked' ? reason : 'SyncFailed';
    events.record(event, `gateway ${identity.gatewayName}: ${reason}: ${message}`);
  }

  /** skipped reports why nothing is synced, once. */
  skipped(reason: (typeof SKIP_REASONS)[number], message: string): void {
    if (this.#lastSkip === message) return;
    this.#lastSkip = message;
    const { log, metrics, reporter, version } = this.#options;
    log.info('nothing is synced', { reason, message });
    metrics.skipped.add({ reason });
    if (reporter.report.syncStatus === undefined && reason !== 'missing')
      reporter.update({ syncStatus: 'Pending', agentVersion: version });
  }

  /** resumed is called when there is something to sync again. */
  resumed(): void {
    this.#lastSkip = '';
  }

  /** audit writes the line of one sync. */
  audit(
    { plan }: Target,
    trigger: SyncTrigger,
    startedAt: number,
    {
      result,
      scanResult,
      placed,
    }: { readonly result: string; readonly scanResult?: string | undefined; readonly placed?: Placed | undefined },
  ): void {
    const { log, cr, identity, clock } = this.#options;
    writeAuditLine(log, {
      timestamp: formatTime(clock.now()),
      cr,
      namespace: identity.namespace,
      gateway: plan.name,
      podName: identity.podName,
      trigger,
      commit: placed?.commit ?? plan.commit,
      ref: placed?.ref ?? plan.ref,
      filesChanged: placed?.changes.length ?? 0,
      projectsSynced: placed?.projects ?? [],
      duration: seconds(clock.monotonic() - startedAt),
      result,
      scanResult,
    });
  }

  #resultOf({ placed, scanResult, startedAt }: CompletedSync): ReportChange {
    const { clock, version } = this.#options;
    const { snapshot } = placed;
    return {
      lastSyncTime: formatTime(clock.now()),
      lastSyncDuration: seconds(clock.monotonic() - startedAt),
      agentVersion: version,
      filesChanged: placed.changes.length,
      ...(placed.isDryRun ? {} : { projectsSynced: placed.projects.slice(0, MAX_PROJECTS) }),
      ...(scanResult === undefined ? {} : { lastScanResult: scanResult }),
      ...(snapshot === undefined
        ? {}
        : { lastSnapshot: { id: snapshot.id, size: sizeText(snapshot.size), timestamp: snapshot.timestamp } }),
    };
  }

  #recordCompleted({ target, placed, rejection }: CompletedSync): void {
    const { events, metrics } = this.#options;
    const { name } = target.plan;
    if (rejection !== undefined) {
      const note = `gateway ${name} returned to the state before ${short(rejection.commit)}: ${rejection.message}`;
      events.record('RolledBack', note);
    } else if (target.snapshot !== undefined) {
      events.record('RolledBack', `gateway ${name} is at the snapshot ${target.snapshot}`);
    } else if (placed.isDryRun) {
      const { added, modified, deleted } = placed.counts;
      metrics.skipped.add({ reason: 'dryRun' });
      const note = `gateway ${name}: a sync would add ${added}, change ${modified} and delete ${deleted} files; its profile only reports them`;
      events.record('SyncSkipped', note);
    } else events.record('SyncCompleted', `gateway ${name} is synced to ${short(placed.commit)}`);
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)}s`;
}

function sizeText(bytes: number): string {
  if (bytes < 1024) return String(bytes);
  return bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)}Ki` : `${Math.ceil(bytes / 1024 / 1024)}Mi`;
}

function short(commit: string): string {
  return commit.slice(0, 12);
}
