import { canonicalJson } from '@bowline/machinery';
import { findCondition, type ReconcileResult } from '@bowline/runtime';
import type { ConditionUpdate } from '@bowline/runtime/writing';
import type { IgnitionSync, IgnitionSyncStatus } from '../api/ignition-sync.ts';
import { CR_ANNOTATIONS } from '../api/names.ts';
import type { ChangesState } from '../bidirectional/controller/follow-changes.ts';
import type { Discovery } from '../discovery/discover-gateways.ts';
import type { CollectedReports } from '../gateways/collect-reports.ts';
import { gatewayConditions } from '../gateways/gateway-conditions.ts';
import { gatewayEntries } from '../gateways/gateway-entries.ts';
import type { AppToken } from '../git/access/app-tokens.ts';
import type { SyncMetadata } from '../protocol/metadata.ts';
import { webhookCondition } from '../receiver/webhook-condition.ts';
import type { Rollout } from '../rollout/rollout.ts';
import type { StorageProblem } from '../storage/storage-state.ts';
import type { PublishResult } from './publish-metadata.ts';
import { readyCondition } from './ready-condition.ts';
import { recordEvents } from './record-events.ts';
import type { SourceState } from './source-state.ts';
import type { SyncContext } from './sync-controller.ts';

/** SyncFacts holds the results of a run. */
export interface SyncFacts {
  /** Why it is paused; undefined if it is not. */
  readonly paused: string | undefined;
  readonly state: SourceState;
  readonly storage: StorageProblem | undefined;
  readonly discovery: Discovery;
  readonly collected: CollectedReports;
  /** The changes of gateways. Undefined if they were not looked at. */
  readonly changes: ChangesState | undefined;
  /** What agents read now. */
  readonly metadata: SyncMetadata | undefined;
  readonly rollout: Rollout | undefined;
  readonly published: PublishResult | undefined;
  readonly token: AppToken | undefined;
}

/** conclude reports the results of a run, and schedules the next one in case nothing happens. */
export function conclude(context: SyncContext, facts: SyncFacts): ReconcileResult {
  const { object, key, deps } = context;
  const { state, discovery, collected, metadata, rollout, published } = facts;
  const previous = object.status?.discoveredGateways ?? [];
  const entries = gatewayEntries({ discovery, reports: collected.reports, metadata, previous });
  const approvedBy = object.metadata?.annotations?.[CR_ANNOTATIONS.approvedBy];
  const ofGateways = gatewayConditions({ ...collected, discovery, entries, metadata, rollout, approvedBy });
  const known = [
    ...state.conditions,
    {
      type: 'WebhookReady',
      ...webhookCondition({
        webhook: object.spec.webhook,
        config: deps.config,
        environment: deps.receiver.receiverEnvironment,
        secretProblem: state.webhookProblem,
      }),
    },
    storageCondition(facts.storage),
    sizeCondition(published),
    ...ofGateways.absent.map((type) => ({ type, status: undefined, reason: '', message: '' })),
    ...ofGateways.conditions,
    ...changesConditions(facts.changes, ofGateways.conditions),
  ];
  // The last one of each type counts.
  const conditions = [...new Map([...known, readyCondition(facts, known)].map((each) => [each.type, each])).values()];
  const isSynced = ofGateways.conditions.some(({ type, status }) => type === 'AllGatewaysSynced' && status);
  const fields: Partial<IgnitionSyncStatus> = {
    repoCloneStatus: object.status?.repoCloneStatus ?? 'NotCloned',
    ...state.fields,
    ...(published?.outcome === 'published' ? published.fields : {}),
    // While some gateways are at a snapshot, they do not have the commit.
    ...(isSynced && metadata && metadata.rollback === undefined
      ? { rolledOut: { ref: metadata.ref, commit: metadata.commit } }
      : {}),
    discoveredGateways: entries,
    currentStage: rollout?.currentStage,
  };
  recordEvents(context, facts, conditions, [...ofGateways.events, ...(facts.changes?.events ?? [])]);
  const isReady = conditions.some(({ type, status }) => type === 'Ready' && status === true);
  deps.metrics.record(key, {
    isReady,
    gateways: entries,
    waitingFor: rollout?.waitingFor ?? new Set(),
    tokenExpiresAtMs: facts.token?.expiresAtMs,
  });
  const delayMs = report(context, conditions, fields);
  return next([
    delayMs,
    state.requeueAfterMs,
    rollout?.lookAgainMs,
    facts.changes?.requeueAfterMs,
    published?.outcome === 'delayed' ? published.delayMs : undefined,
  ]);
}

/**
 * report sets the status, unless only details changed and the last ones were written within a second. It returns the delay until
 * they may be written.
 */
function report(
  { object, key, deps, status }: SyncContext,
  conditions: readonly ConditionUpdate[],
  fields: Partial<IgnitionSyncStatus>,
): number | undefined {
  const uid = object.metadata?.uid ?? '';
  const delayMs = deps.memory.detailsDelayMs(key, uid);
  if (delayMs > 0 && !isUrgent(object, conditions, fields)) {
    for (const { type, status: value, reason, message } of object.status?.conditions ?? []) {
      status.condition(type, value as 'True' | 'False' | 'Unknown', reason, message);
    }
    return delayMs;
  }
  for (const { type, status: value, reason, message } of conditions) {
    if (value === undefined) status.removeCondition(type);
    else status.condition(type, value, reason, message);
  }
  status.set(fields);
  if (hasChanged(object, conditions, fields)) deps.memory.detailsWritten(key, uid);
  return undefined;
}

/** isUrgent reports whether the status or reason of a condition changes, or more than details. */
function isUrgent(
  object: IgnitionSync,
  conditions: readonly ConditionUpdate[],
  fields: Partial<IgnitionSyncStatus>,
): boolean {
  const { status, metadata } = object;
  if (status?.observedGeneration !== metadata?.generation) return true;
  const changes = conditions.some((next) => {
    const stored = findCondition(object, next.type);
    return stored?.status !== statusOf(next) || (stored !== undefined && stored.reason !== next.reason);
  });
  const { discoveredGateways: _, currentStage: __, ...others } = fields;
  return (
    changes ||
    Object.entries(others).some(([name, value]) => !isSame(value, status?.[name as keyof IgnitionSyncStatus]))
  );
}

function hasChanged(
  object: IgnitionSync,
  conditions: readonly ConditionUpdate[],
  fields: Partial<IgnitionSyncStatus>,
): boolean {
  const differs = conditions.some((next) => {
    const stored = findCondition(object, next.type);
    return stored?.status !== statusOf(next) || (stored !== undefined && stored.message !== next.message);
  });
  return (
    differs ||
    Object.entries(fields).some(([name, value]) => !isSame(value, object.status?.[name as keyof IgnitionSyncStatus]))
  );
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || canonicalJson(a ?? null) === canonicalJson(b ?? null);
}

function statusOf({ status }: ConditionUpdate): string | undefined {
  if (typeof status !== 'boolean') return status;
  return status ? 'True' : 'False';
}

/** changesConditions returns what pushes and conflicts add to the conditions that follow from the reports of agents. */
function changesConditions(
  changes: ChangesState | undefined,
  reported: readonly { readonly type: string }[],
): readonly ConditionUpdate[] {
  const isEnabled = reported.some(({ type }) => type === 'BidirectionalReady');
  const conflict = changes?.events.find(({ reason }) => reason === 'ConflictDetected');
  return [
    ...(changes?.problem && isEnabled ? [{ type: 'BidirectionalReady', status: false, ...changes.problem }] : []),
    ...(conflict
      ? [{ type: 'ConflictDetected', status: true, reason: 'ChangedOnBothSides', message: conflict.message }]
      : []),
  ];
}

function storageCondition(problem: StorageProblem | undefined): ConditionUpdate {
  const type = 'StoragePending';
  return problem ? { type, status: true, ...problem } : { type, status: undefined, reason: '', message: '' };
}

function sizeCondition(published: PublishResult | undefined): ConditionUpdate {
  const type = 'TooLarge';
  if (published?.outcome !== 'too-large') return { type, status: undefined, reason: '', message: '' };
  return { type, status: true, reason: 'TooLarge', message: published.message };
}

function next(delays: readonly (number | undefined)[]): ReconcileResult {
  const known = delays.filter((delay) => delay !== undefined);
  return known.length === 0 ? undefined : { requeueAfterMs: Math.min(...known) };
}
