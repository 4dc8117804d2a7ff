import type { ObjectKey } from '@bowline/kubernetes';
import type { CopyResult } from '../copies/copy-result.ts';
import { isNewReason, type SyncReport } from './status.ts';
import type { SyncContext } from './sync-controller.ts';

const OUTCOME_EVENTS: Readonly<
  Partial<Record<CopyResult['outcome'], { readonly reason: string; readonly action: string }>>
> = {
  created: { reason: 'Created', action: 'created' },
  updated: { reason: 'Updated', action: 'updated' },
  repaired: { reason: 'DriftCorrected', action: 'reverted changes by another client in' },
  adopted: { reason: 'Adopted', action: 'adopted' },
  recreated: { reason: 'DestinationRecreated', action: 'recreated immutable' },
};

/** The event reasons of obstacles that have their own. */
const OBSTACLE_EVENT_REASONS: Readonly<Record<string, string>> = {
  SourceNotFound: 'SourceMissing',
  NamespaceMissing: 'NamespaceMissing',
  NamespaceTerminating: 'NamespaceMissing',
  DestinationModified: 'ConflictDetected',
  KeyConflict: 'ConflictDetected',
  CycleDetected: 'CycleDetected',
};

/** recordEvents records events: one per outcome for all copies together, and one for an obstacle if it is new. */
export function recordEvents(context: SyncContext, results: readonly CopyResult[], report: SyncReport): void {
  const { event, object } = context;
  for (const [outcome, { reason, action }] of Object.entries(OUTCOME_EVENTS)) {
    const targets = results.filter((result) => result.outcome === outcome).map(({ target }) => target);
    if (targets.length > 0) event('Normal', reason, `${action} ${formatKeys(targets)}`);
  }
  const ready = report.conditions.find(({ type }) => type === 'Ready');
  // A retried failure is recorded as an event where it is thrown.
  if (!ready || ready.status === true || report.retry !== undefined) return;
  if (isNewReason(object, 'Ready', ready.reason))
    event('Warning', OBSTACLE_EVENT_REASONS[ready.reason] ?? 'SyncFailed', ready.message);
}

/** recordDeleted records an event for the deleted copies. */
export function recordDeleted({ event }: SyncContext, copies: readonly ObjectKey[]): void {
  if (copies.length > 0) event('Normal', 'DestinationDeleted', `deleted ${formatKeys(copies)}`);
}

/**
 * recordKept records an event for the copies that stay behind, with our labels and annotations, because the account has
 * no right to release them.
 */
export function recordKept({ event, object, key }: SyncContext, copies: readonly ObjectKey[]): void {
  if (copies.length === 0) return;
  const account = `${key.namespace}/${object.spec.serviceAccountName}`;
  const pronoun = copies.length === 1 ? 'it' : 'them';
  event(
    'Warning',
    'DestinationLeft',
    `kept ${formatKeys(copies)}, because the ServiceAccount ${account} lacks the permission to release ${pronoun}; delete ${pronoun} manually if no longer needed`,
  );
}

/** The maximum number of names in one event: it has at most 1024 characters. */
const MAX_NAMED = 3;

function formatKeys(keys: readonly ObjectKey[]): string {
  const names = keys.slice(0, MAX_NAMED).map(({ namespace, name }) => `${namespace}/${name}`);
  const more = keys.length - names.length;
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ');
}
