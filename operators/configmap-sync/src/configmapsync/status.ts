import { findCondition } from '@bowline/runtime';
import type { ConditionUpdate } from '@bowline/runtime/writing';
import type { ConfigMapSync, DestinationStatus, Status } from '../api/config-map-sync.ts';
import { MAX_DESTINATIONS } from '../api/status.ts';
import type { CopyResult, Obstacle } from '../copies/copy-result.ts';

/** SyncFacts holds the results of a run. */
export interface SyncFacts {
  /** Undefined if there is none. */
  readonly source: { readonly hash: string; readonly resourceVersion: string } | undefined;
  readonly results: readonly CopyResult[];
  /** How many copies that are no longer wanted could not be released, and why. */
  readonly leftovers?: { readonly count: number; readonly message: string } | undefined;
  readonly attempt: number;
}

/** SyncReport holds the status after a run, and whether a retry may help. */
export interface SyncReport {
  readonly fields: Partial<Status>;
  readonly conditions: readonly ConditionUpdate[];
  /** Why it has to be retried; undefined if it does not. */
  readonly retry: string | undefined;
  readonly counts: Readonly<Record<DestinationStatus['status'], number>>;
  /** Whether everything is in its desired state. */
  readonly isDone: boolean;
}

/** Reasons that describe a single request, and are not meaningful for the whole ConfigMapSync. */
const REQUEST_REASONS: ReadonlySet<string> = new Set(['Forbidden', 'WriteFailed', 'TooLarge']);

/** statusOf returns the status of a ConfigMapSync after a run. Times and versions change only together with content. */
export function statusOf({ status: previous = {} }: Pick<ConfigMapSync, 'status'>, facts: SyncFacts): SyncReport {
  const { source, results, leftovers } = facts;
  const counts = countsOf(results);
  const total = results.length;
  const worst = worstOf(results);
  const isRetried = leftovers !== undefined || results.some(({ obstacle }) => obstacle?.isRetried);
  const message = messageOf(facts, counts.Synced, worst);
  const isDone = source !== undefined && worst === undefined && leftovers === undefined;
  const reason = reasonOf(facts, worst);
  const isStalled = !isDone && !isRetried && results.some(({ obstacle }) => obstacle && obstacle.state !== 'Pending');
  return {
    counts,
    isDone,
    retry: isRetried ? message : undefined,
    fields: {
      syncStatus: isDone ? 'Success' : counts.Failed + counts.Conflict > 0 || leftovers ? 'Failed' : 'InProgress',
      message,
      ...(source === undefined ? { sourceExists: false } : sourceFields(source, previous)),
      destinationExists: total > 0 && results.every(({ exists }) => exists),
      retryCount: isRetried ? facts.attempt : 0,
      lastSyncTime: latest([previous.lastSyncTime, ...results.map(({ syncedAt }) => syncedAt)]),
      syncedCount: counts.Synced,
      totalCount: total,
      destinations: destinationsOf(results),
    },
    conditions: [
      condition(
        'Synced',
        isDone,
        isDone ? 'SyncSucceeded' : counts.Synced > 0 ? 'PartiallySynced' : 'SyncFailed',
        message,
      ),
      conflictOf(results),
      condition('Ready', isDone, isDone ? 'AllComponentsReady' : reason, message),
      ...(isStalled
        ? [
            condition('Stalled', true, reason, message),
            { ...condition('Reconciling', false, reason, message), status: undefined },
          ]
        : []),
    ],
  };
}

/**
 * sourceFields records a version only together with its content: a source whose labels change often causes no status
 * updates.
 */
function sourceFields(source: NonNullable<SyncFacts['source']>, previous: Partial<Status>): Partial<Status> {
  const { hash, resourceVersion } = source;
  const isSame = previous.sourceHash === hash && previous.sourceResourceVersion !== undefined;
  return {
    sourceExists: true,
    sourceHash: hash,
    sourceResourceVersion: isSame ? previous.sourceResourceVersion : resourceVersion,
  };
}

function countsOf(results: readonly CopyResult[]): Record<DestinationStatus['status'], number> {
  const counts = { Synced: 0, Pending: 0, Conflict: 0, Failed: 0 };
  for (const { obstacle } of results) counts[obstacle?.state ?? 'Synced']++;
  return counts;
}

const SEVERITY: Readonly<Record<DestinationStatus['status'], number>> = {
  Failed: 0,
  Conflict: 1,
  Pending: 2,
  Synced: 3,
};

function bySeverity(a: CopyResult, b: CopyResult): number {
  return SEVERITY[a.obstacle?.state ?? 'Synced'] - SEVERITY[b.obstacle?.state ?? 'Synced'];
}

type Stopped = CopyResult & { readonly obstacle: Obstacle };

function worstOf(results: readonly CopyResult[]): Stopped | undefined {
  return results.filter((result): result is Stopped => result.obstacle !== undefined).sort(bySeverity)[0];
}

function reasonOf({ source, leftovers }: SyncFacts, worst: Stopped | undefined): string {
  if (leftovers || (worst && REQUEST_REASONS.has(worst.obstacle.reason))) return 'SyncFailed';
  return worst?.obstacle.reason ?? (source ? 'SyncFailed' : 'SourceNotFound');
}

function messageOf({ source, results, leftovers }: SyncFacts, synced: number, worst: Stopped | undefined): string {
  const total = results.length;
  if (leftovers) return `failed to remove ${leftovers.count} obsolete copies, will retry; ${leftovers.message}`;
  if (worst) {
    const { target, obstacle } = worst;
    return `${synced} of ${total} copies are in sync; ${target.namespace}/${target.name}: ${obstacle.message}`;
  }
  if (!source) return 'the source does not exist; create it, or correct spec.sourceNamespace and spec.configMapName';
  if (total === 0) return 'no copies: no namespace matches spec.destinationSelector';
  return total === 1 ? 'the copy is in sync' : `all ${total} copies are in sync`;
}

function conflictOf(results: readonly CopyResult[]): ConditionUpdate {
  const found = results.find(({ obstacle }) => obstacle?.state === 'Conflict');
  if (!found?.obstacle) return condition('Conflict', false, 'None', 'no copy is in conflict');
  const { namespace, name } = found.target;
  return condition('Conflict', true, found.obstacle.reason, `${namespace}/${name}: ${found.obstacle.message}`);
}

/** destinationsOf lists the copies that need attention first, up to the limit of the status. */
function destinationsOf(results: readonly CopyResult[]): readonly DestinationStatus[] {
  return results.toSorted(bySeverity).slice(0, MAX_DESTINATIONS).map(destinationOf);
}

function destinationOf({ target, obstacle, hash, syncedAt }: CopyResult): DestinationStatus {
  const { namespace, name } = target;
  return {
    namespace,
    name,
    status: obstacle?.state ?? 'Synced',
    ...(obstacle ? { reason: obstacle.reason, message: obstacle.message } : {}),
    ...(hash === undefined ? {} : { hash }),
    ...(syncedAt === undefined ? {} : { lastSyncTime: syncedAt }),
  };
}

function latest(times: readonly (string | undefined)[]): string | undefined {
  // RFC 3339 in UTC with whole seconds: the text order is the time order.
  return times.reduce(
    (last, time) => (time !== undefined && (last === undefined || time > last) ? time : last),
    undefined,
  );
}

function condition(type: string, status: boolean, reason: string, message: string): ConditionUpdate {
  return { type, status, reason, message };
}

/** isNewReason reports whether a condition did not have this reason before: events are recorded only then. */
export function isNewReason(sync: Pick<ConfigMapSync, 'status'>, type: string, reason: string): boolean {
  return findCondition(sync, type)?.reason !== reason;
}
