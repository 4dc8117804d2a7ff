import type { DiscoveredGateway } from '../api/ignition-sync.ts';
import { MAX_GATEWAYS, MAX_HISTORY, MAX_MESSAGE_LENGTH } from '../api/ignition-sync-status.ts';
import { POD_ANNOTATIONS } from '../api/names.ts';
import type { Discovery, Gateway, MissingSidecar } from '../discovery/discover-gateways.ts';
import { stateHashes } from '../protocol/desired-hash.ts';
import type { GatewayReport } from '../protocol/gateway-report.ts';
import type { SyncMetadata } from '../protocol/metadata.ts';
import type { GatewayPlan } from '../protocol/rollout-plan.ts';
import { snapshotOf } from '../protocol/snapshot-of.ts';

/** EntriesInput holds what the entries of the status follow from. */
export interface EntriesInput {
  readonly discovery: Discovery;
  /** By pod name; see `collectReports`. */
  readonly reports: ReadonlyMap<string, GatewayReport>;
  /** As it is written for agents, with the plan. Undefined until a commit is known. */
  readonly metadata: SyncMetadata | undefined;
  /** The entries of the status before. */
  readonly previous: readonly DiscoveredGateway[];
}

/** gatewayEntries returns the entries of the status, by name: running gateways, and pods without an agent. */
export function gatewayEntries(input: EntriesInput): DiscoveredGateway[] {
  const previous = new Map(input.previous.map((entry) => [entry.podName, entry]));
  const hashOf = input.metadata === undefined ? () => undefined : stateHashes(input.metadata);
  const isCurrent = (plan: GatewayPlan | undefined, report: GatewayReport): boolean =>
    plan !== undefined && report.appliedHash !== undefined && report.appliedHash === hashOf(plan);
  const entries = [
    ...input.discovery.gateways.map((gateway) =>
      gatewayEntry(gateway, { ...input, isCurrent }, previous.get(gateway.pod.name)),
    ),
    ...input.discovery.missing.map(missingEntry),
  ];
  return entries.sort((a, b) => compare(a.name, b.name) || compare(a.podName, b.podName)).slice(0, MAX_GATEWAYS);
}

function missingEntry({ name, pod, reason }: MissingSidecar): DiscoveredGateway {
  return { ...identity({ name, pod }), agentReady: false, syncStatus: 'MissingSidecar', message: shorten(reason) };
}

interface EntryInput extends EntriesInput {
  /** Whether a report is about the planned state. */
  readonly isCurrent: (plan: GatewayPlan | undefined, report: GatewayReport) => boolean;
}

function gatewayEntry(
  gateway: Gateway,
  { reports, metadata, isCurrent }: EntryInput,
  previous: DiscoveredGateway | undefined,
): DiscoveredGateway {
  const { pod } = gateway;
  const base = { ...identity(gateway), agentReady: pod.isAgentReady };
  const plan = metadata?.plan[pod.name];
  const report = reports.get(pod.name);
  if (report === undefined) {
    const message = plan?.waitingFor ?? (pod.isAgentReady ? undefined : 'the agent is not ready');
    return { ...base, syncStatus: 'Pending', message, syncHistory: previous?.syncHistory };
  }
  const isPlanned = isCurrent(plan, report);
  const snapshot = plan && snapshotOf(metadata?.rollback, plan);
  const { syncStatus, message } = stateOf(report, { isCurrent: isPlanned, waitingFor: plan?.waitingFor, snapshot });
  return {
    ...base,
    syncStatus,
    message: message && shorten(message),
    lastSyncTime: timeOf(report.lastSyncTime),
    lastSyncDuration: report.lastSyncDuration,
    syncedCommit: report.syncedCommit,
    syncedRef: report.syncedRef,
    agentVersion: report.agentVersion,
    lastScanResult: report.lastScanResult,
    filesChanged: report.filesChanged,
    projectsSynced: report.projectsSynced,
    driftedFiles: report.drifted?.count,
    rejectedCommit: report.rejectedCommit,
    lastSnapshot: report.lastSnapshot && { ...report.lastSnapshot, timestamp: timeOf(report.lastSnapshot.timestamp) },
    syncHistory:
      isPlanned || report.syncStatus === 'Synced'
        ? historyOf(report, plan?.commit, previous?.syncHistory)
        : previous?.syncHistory,
  };
}

interface StateContext {
  /** Whether the report is about the state that the gateway should have. */
  readonly isCurrent: boolean;
  readonly waitingFor: string | undefined;
  /** The snapshot that the gateway stays at. Undefined: it follows its commit. */
  readonly snapshot: string | undefined;
}

/** stateOf returns the status of a gateway. A report about another state than the planned one is not about this sync. */
function stateOf(
  report: GatewayReport,
  { isCurrent, waitingFor, snapshot }: StateContext,
): Pick<DiscoveredGateway, 'syncStatus' | 'message'> {
  if (waitingFor !== undefined) return { syncStatus: 'Pending', message: waitingFor };
  const { syncStatus, errorReason, errorMessage, sessionsBlocking, dryRun } = report;
  const failure = errorReason === undefined ? errorMessage : `${errorReason}: ${errorMessage ?? 'the sync failed'}`;
  if (!isCurrent) return { syncStatus: syncStatus === 'Syncing' ? 'Syncing' : 'Pending', message: undefined };
  if (syncStatus === 'Error') return { syncStatus, message: failure ?? 'the sync failed' };
  if (sessionsBlocking)
    return { syncStatus, message: `waiting for ${sessionsBlocking} Designer sessions to be closed` };
  if (dryRun !== undefined) {
    const { added, modified, deleted } = dryRun;
    return { syncStatus, message: `dry run: ${added} files to add, ${modified} to modify, ${deleted} to delete` };
  }
  if (snapshot !== undefined && syncStatus === 'Synced')
    return { syncStatus, message: `at the snapshot ${snapshot}; remove spec.rollback to follow the ref again` };
  return { syncStatus, message: failure };
}

type History = NonNullable<DiscoveredGateway['syncHistory']>;

/**
 * historyOf adds the result of a sync once. A report repeats the last result until the next sync ends. A failure is about
 * the planned commit, and the commit of a rollback about the one that was rejected.
 */
function historyOf(
  report: GatewayReport,
  planned: string | undefined,
  previous: History | undefined,
): History | undefined {
  const { syncStatus, syncedCommit, rejectedCommit, errorReason, failedAt } = report;
  if (syncStatus !== 'Synced' && syncStatus !== 'Error') return previous;
  const hasFailed = syncStatus === 'Error' && failedAt !== undefined;
  const timestamp = timeOf(hasFailed ? failedAt : report.lastSyncTime);
  if (timestamp === undefined) return previous;
  const result = syncStatus === 'Synced' ? 'Synced' : (errorReason ?? 'Error');
  const attempted = hasFailed ? planned : syncStatus === 'Error' ? rejectedCommit : undefined;
  const commit = attempted ?? syncedCommit ?? '';
  const last = previous?.[0];
  if (last?.timestamp === timestamp && last.result === result && last.commit === commit) return previous;
  const entry = { timestamp, commit, result, duration: hasFailed ? undefined : report.lastSyncDuration };
  return [entry, ...(previous ?? [])].slice(0, MAX_HISTORY);
}

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?Z$/;

/** timeOf returns a time that the schema of the status accepts. Agents may report anything. */
function timeOf(text: string | undefined): string | undefined {
  return text !== undefined && TIME.test(text) && !Number.isNaN(Date.parse(text)) ? text : undefined;
}

function identity({
  name,
  pod,
}: Pick<Gateway, 'name' | 'pod'>): Pick<DiscoveredGateway, 'name' | 'namespace' | 'podName' | 'servicePath'> {
  const servicePath = pod.annotations[POD_ANNOTATIONS.servicePath]?.slice(0, 1024);
  return { name, namespace: pod.namespace, podName: pod.name, servicePath };
}

function shorten(message: string): string {
  return message.length > MAX_MESSAGE_LENGTH ? `${message.slice(0, MAX_MESSAGE_LENGTH - 1)}…` : message;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
