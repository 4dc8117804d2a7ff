import type { DiscoveredGateway } from '../api/ignition-sync.ts';
import { CR_ANNOTATIONS, POD_ANNOTATIONS } from '../api/names.ts';
import type { Discovery } from '../discovery/discover-gateways.ts';
import type { GatewayReport } from '../protocol/gateway-report.ts';
import type { SyncMetadata } from '../protocol/metadata.ts';
import { snapshotOf } from '../protocol/snapshot-of.ts';
import type { Rollout } from '../rollout/rollout.ts';

/** Condition is a condition for `ctx.status.condition`. */
export interface Condition {
  readonly type: string;
  readonly status: boolean;
  readonly reason: string;
  readonly message: string;
}

/** SyncEvent is an event about the IgnitionSync for `ctx.event`, reported as long as its state holds. */
export interface SyncEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** ConditionsInput holds what the conditions of gateways follow from. */
export interface ConditionsInput {
  readonly discovery: Discovery;
  /** See `gatewayEntries`. */
  readonly entries: readonly DiscoveredGateway[];
  /** By pod name; see `collectReports`. */
  readonly reports: ReadonlyMap<string, GatewayReport>;
  /** The keys of `collectReports` whose report cannot be read. */
  readonly malformed: readonly string[];
  /** As it is written for agents. Undefined until a commit is known. */
  readonly metadata: SyncMetadata | undefined;
  /** Undefined until a commit is known. */
  readonly rollout: Rollout | undefined;
  readonly approvedBy: string | undefined;
}

/** GatewayConditions holds the conditions and events that follow from gateways. */
export interface GatewayConditions {
  /** The conditions that apply, AllGatewaysSynced always. `Ready` is that of an IgnitionSync whose commit is known. */
  readonly conditions: readonly Condition[];
  /** The types of conditions that do not apply; remove them. */
  readonly absent: readonly string[];
  readonly events: readonly SyncEvent[];
}

/** OPTIONAL_CONDITIONS are the conditions that exist only while they apply. */
const OPTIONAL_CONDITIONS = [
  'SidecarInjected',
  'RefSkew',
  'DesignerSessionActive',
  'DriftDetected',
  'TooManyGateways',
  'AutoRollbackPerformed',
  'CanaryStageFailed',
  'PendingApproval',
  'ConflictDetected',
  'BidirectionalReady',
] as const;

const MAX_NAMES = 5;
const MAX_MESSAGE = 1024;
const MAX_APPROVER = 128;
const COMMIT_DIGITS = 12;

/** gatewayConditions returns the conditions and events of an IgnitionSync that follow from its gateways. */
export function gatewayConditions(input: ConditionsInput): GatewayConditions {
  const summary = summarize(input);
  const optional = [
    sidecarInjected(input),
    refSkew(input),
    designerSessionActive(input),
    driftDetected(input),
    tooManyGateways(input),
    autoRollbackPerformed(input),
    canaryStageFailed(input),
    pendingApproval(input),
    conflictDetected(input),
    bidirectionalReady(input),
  ].filter((condition) => condition !== undefined);
  const conditions = [ready(summary), allGatewaysSynced(summary, input), ...optional];
  return {
    conditions: conditions.map((each) => ({ ...each, message: shorten(each.message, MAX_MESSAGE) })),
    absent: OPTIONAL_CONDITIONS.filter((type) => !optional.some((each) => each.type === type)),
    events: events(summary, input, conditions).map((each) => ({
      ...each,
      message: shorten(each.message, MAX_MESSAGE),
    })),
  };
}

/** Summary holds the gateways that count for AllGatewaysSynced. */
interface Summary {
  readonly counted: readonly DiscoveredGateway[];
  readonly unsynced: readonly DiscoveredGateway[];
  readonly failed: readonly DiscoveredGateway[];
  /** Whether there is any gateway, also one that follows another ref. */
  readonly isEmpty: boolean;
}

function summarize({ discovery, entries }: ConditionsInput): Summary {
  const overridden = new Set(overriddenPods(discovery).map(({ pod }) => pod.name));
  const foreign = new Set(discovery.missing.filter(({ isOurs }) => !isOurs).map(({ pod }) => pod.name));
  const ours = entries.filter(({ podName }) => !foreign.has(podName));
  const counted = ours.filter(({ podName }) => !overridden.has(podName));
  return {
    counted,
    unsynced: counted.filter(({ syncStatus }) => syncStatus !== 'Synced'),
    failed: counted.filter(({ syncStatus }) => syncStatus === 'Error'),
    isEmpty: ours.length === 0,
  };
}

function ready({ unsynced, failed, isEmpty }: Summary): Condition {
  const type = 'Ready';
  if (failed.length > 0) {
    const message = `the sync of ${names(failed)} failed; the condition AllGatewaysSynced has the reasons`;
    return { type, status: false, reason: 'SyncFailed', message };
  }
  if (isEmpty || unsynced.length > 0) {
    return { type, status: false, reason: 'Reconciling', message: 'Waiting for gateways to sync' };
  }
  return { type, status: true, reason: 'SyncSucceeded', message: 'all gateways are synced' };
}

function allGatewaysSynced({ counted, unsynced, failed, isEmpty }: Summary, input: ConditionsInput): Condition {
  const type = 'AllGatewaysSynced';
  if (isEmpty) {
    const message = 'no running pod names this IgnitionSync; set the annotations of a gateway pod and recreate it';
    return { type, status: false, reason: 'NoGatewaysDiscovered', message };
  }
  const count = `${counted.length - unsynced.length}/${counted.length} gateways synced`;
  const why = unsynced.slice(0, MAX_NAMES).map(({ name, syncStatus, message }) => `${name}: ${message ?? syncStatus}`);
  const others = unsynced.length > MAX_NAMES ? [`and ${unsynced.length - MAX_NAMES} others`] : [];
  const notes = [...rollbackNotes(input), ...(input.rollout?.notes ?? [])].slice(0, MAX_NAMES);
  const message = [count, ...why, ...others, ...notes].join('; ');
  if (unsynced.length === 0) return { type, status: true, reason: 'SyncSucceeded', message };
  return { type, status: false, reason: failed.length > 0 ? 'SyncFailed' : 'SyncInProgress', message };
}

/** rollbackNotes returns which gateways are at a snapshot, and what of the request for a rollback has no effect. */
function rollbackNotes({ discovery, entries, metadata }: ConditionsInput): readonly string[] {
  const { rollback, plan = {} } = metadata ?? {};
  if (rollback === undefined) return [];
  const { toSnapshot, gateways = [] } = rollback;
  const running = new Set(discovery.gateways.map(({ name }) => name));
  const unknown = gateways.filter((name) => !running.has(name));
  if (unknown.length > 0) {
    return [`spec.rollback.gateways: ${firstOf(unknown)} is not running or does not exist; correct the names`];
  }
  const isAffected = ({ podName }: DiscoveredGateway): boolean =>
    plan[podName] !== undefined && snapshotOf(rollback, plan[podName]) !== undefined;
  const affected = entries.filter(isAffected);
  if (affected.length === 0) {
    return [`spec.rollback.toSnapshot: no running gateway has the snapshot ${toSnapshot}; correct the name`];
  }
  const synced = affected.filter(({ syncStatus }) => syncStatus === 'Synced');
  return synced.length === 0 ? [] : [`${names(synced)} at the snapshot ${toSnapshot} until spec.rollback is removed`];
}

function sidecarInjected({ discovery: { missing } }: ConditionsInput): Condition | undefined {
  if (missing.length === 0) return undefined;
  const pods = missing.slice(0, MAX_NAMES).map(({ pod, reason }) => `pod ${pod.name} has no agent: ${reason}`);
  return { type: 'SidecarInjected', status: false, reason: 'MissingSidecar', message: pods.join('; ') };
}

function refSkew({ discovery }: ConditionsInput): Condition | undefined {
  const pods = overriddenPods(discovery);
  if (pods.length === 0) return undefined;
  const list = pods.map(({ name, pod }) => `${name} follows ${pod.annotations[POD_ANNOTATIONS.refOverride]}`);
  return { type: 'RefSkew', status: true, reason: 'RefOverride', message: firstOf(list) };
}

function designerSessionActive({ discovery, reports }: ConditionsInput): Condition | undefined {
  const blocked = discovery.gateways.filter(({ pod }) => (reports.get(pod.name)?.sessionsBlocking ?? 0) > 0);
  if (blocked.length === 0) return undefined;
  const message = `the sync of ${names(blocked)} waits until Designer sessions are closed`;
  return { type: 'DesignerSessionActive', status: true, reason: 'DesignerSessionsBlocked', message };
}

function driftDetected({ discovery, reports }: ConditionsInput): Condition | undefined {
  const drifted = discovery.gateways.flatMap(({ name, pod }) => {
    const { count = 0, paths = [] } = reports.get(pod.name)?.drifted ?? {};
    if (count === 0) return [];
    return paths.length === 0 ? [`${name}: ${count} files`] : paths.map((path) => `${name}: ${path}`);
  });
  if (drifted.length === 0) return undefined;
  const message = `files were changed on gateways: ${firstOf(drifted)}; commit the changes, or set spec.drift to Restore`;
  return { type: 'DriftDetected', status: true, reason: 'FilesModified', message };
}

function tooManyGateways({ discovery: { total, gateways } }: ConditionsInput): Condition | undefined {
  if (total <= gateways.length) return undefined;
  const message = `${total} gateways name this IgnitionSync, and only the first ${gateways.length} by name are synced; use several IgnitionSyncs`;
  return { type: 'TooManyGateways', status: true, reason: 'LimitExceeded', message };
}

function autoRollbackPerformed({ discovery, reports, metadata }: ConditionsInput): Condition | undefined {
  const rolledBack = discovery.gateways.filter(({ pod }) => {
    const rejected = reports.get(pod.name)?.rejectedCommit;
    return rejected !== undefined && rejected === metadata?.plan[pod.name]?.commit;
  });
  if (rolledBack.length === 0) return undefined;
  const message = `${names(rolledBack)} returned to the snapshot before the commit, which is not tried again; push another commit, or change the annotation ${CR_ANNOTATIONS.retry}`;
  return { type: 'AutoRollbackPerformed', status: true, reason: 'RolledBack', message };
}

function canaryStageFailed({ rollout }: ConditionsInput): Condition | undefined {
  if (rollout?.failure === undefined) return undefined;
  const { stage, gateway, problem } = rollout.failure;
  const message = `stage ${stage} failed on gateway ${gateway}: ${problem}; later stages keep their commit until it is corrected: push another commit, or change the annotation ${CR_ANNOTATIONS.retry}`;
  return { type: 'CanaryStageFailed', status: true, reason: 'StageFailed', message };
}

function pendingApproval({ rollout, metadata }: ConditionsInput): Condition | undefined {
  if (rollout?.pendingApproval === undefined) return undefined;
  const { approvedCommit, approvedBy } = CR_ANNOTATIONS;
  const message = `stage ${rollout.pendingApproval} waits for an approval; set the annotations ${approvedCommit} to ${metadata?.commit} and ${approvedBy} to your name`;
  return { type: 'PendingApproval', status: true, reason: 'ApprovalRequired', message };
}

function conflictDetected({ discovery, reports }: ConditionsInput): Condition | undefined {
  const conflicts = discovery.gateways.flatMap(({ name, pod }) =>
    (reports.get(pod.name)?.conflicts ?? []).map((path) => `${name}: ${path}`),
  );
  if (conflicts.length === 0) return undefined;
  const message = `files were changed on gateways and in Git: ${firstOf(conflicts)}`;
  return { type: 'ConflictDetected', status: true, reason: 'ChangedOnBothSides', message };
}

function bidirectionalReady({ discovery, reports, metadata }: ConditionsInput): Condition | undefined {
  if (!metadata?.settings.bidirectional?.enabled) return undefined;
  const type = 'BidirectionalReady';
  const waiting = discovery.gateways.filter(({ pod }) => reports.get(pod.name)?.isWatching !== true);
  if (waiting.length === 0) {
    return { type, status: true, reason: 'WatchersActive', message: 'all agents watch their gateways for changes' };
  }
  const message = `the agents of ${names(waiting)} do not watch for changes yet`;
  return { type, status: false, reason: 'WatchersStarting', message };
}

function events(
  { counted, unsynced, failed, isEmpty }: Summary,
  { discovery, rollout, malformed, metadata, approvedBy }: ConditionsInput,
  conditions: readonly Condition[],
): SyncEvent[] {
  const found: SyncEvent[] = [];
  const add = (type: SyncEvent['type'], reason: string, message: string): void => {
    found.push({ type, reason, message });
  };
  const commit = metadata?.commit.slice(0, COMMIT_DIGITS);
  const { total } = discovery;
  if (total > 0) add('Normal', 'GatewaysDiscovered', total === 1 ? '1 gateway runs' : `${total} gateways run`);
  if (!isEmpty && counted.length > 0 && unsynced.length === 0)
    add('Normal', 'SyncCompleted', `all gateways are synced at ${commit}`);
  for (const { name, message } of failed.slice(0, MAX_NAMES))
    add('Warning', 'SyncFailed', `gateway ${name}: ${message ?? 'the sync failed'}`);
  for (const { pod, reason } of discovery.missing.slice(0, MAX_NAMES))
    add('Warning', 'MissingSidecar', `pod ${pod.name} has no agent: ${reason}`);
  for (const key of malformed.slice(0, MAX_NAMES))
    add('Warning', 'MalformedReport', `the report of gateway ${key} cannot be read; is its agent of another version?`);
  for (const stage of rollout?.completedStages ?? []) add('Normal', 'StageCompleted', `stage ${stage} is completed`);
  if ((rollout?.approvedStages.length ?? 0) > 0)
    add('Normal', 'ApprovalGiven', `${shorten(approvedBy ?? '', MAX_APPROVER)} approved ${commit}`);
  for (const { gateway, peer } of rollout?.unavailablePeers.slice(0, MAX_NAMES) ?? [])
    add('Warning', 'PeerUnavailable', `gateway ${gateway} does not wait for its peer ${peer}, which is not running`);
  for (const { type, reason, message } of conditions) {
    if (type === 'ConflictDetected') add('Warning', 'ConflictDetected', message);
    if (type === 'CanaryStageFailed') add('Warning', reason, message);
    if (type === 'PendingApproval') add('Normal', type, message);
  }
  return found;
}

function overriddenPods({ gateways }: Discovery): Discovery['gateways'] {
  return gateways.filter(({ pod }) => Boolean(pod.annotations[POD_ANNOTATIONS.refOverride]));
}

function names(gateways: readonly { readonly name: string }[]): string {
  return firstOf(gateways.map(({ name }) => name));
}

function firstOf(texts: readonly string[]): string {
  const listed = texts.slice(0, MAX_NAMES).join(', ');
  return texts.length > MAX_NAMES ? `${listed} and ${texts.length - MAX_NAMES} others` : listed;
}

function shorten(text: string, maxLength: number): string {
  return text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text;
}
