import type { ObjectKey } from '@bowline/kubernetes';
import type { CopyResult } from '../copies/copy-result.ts';
import { isNews, type SyncReport } from './status.ts';
import type { SyncContext } from './watching.ts';

const OUTCOMES: Readonly<Partial<Record<CopyResult['outcome'], { readonly reason: string; readonly did: string }>>> = {
  created: { reason: 'Created', did: 'created' },
  updated: { reason: 'Updated', did: 'updated' },
  repaired: { reason: 'DriftCorrected', did: 'reverted changes by another client in' },
  adopted: { reason: 'Adopted', did: 'adopted' },
  recreated: { reason: 'DestinationRecreated', did: 'recreated immutable' },
};

/** The event reasons of obstacles that have their own. */
const OBSTACLES: Readonly<Record<string, string>> = {
  SourceNotFound: 'SourceMissing',
  NamespaceMissing: 'NamespaceMissing',
  NamespaceTerminating: 'NamespaceMissing',
  DestinationModified: 'ConflictDetected',
  KeyConflict: 'ConflictDetected',
  CycleDetected: 'CycleDetected',
};

/** sayWhatHappened records events: one per outcome for all copies together, and one for an obstacle if it is new. */
export function sayWhatHappened(context: SyncContext, results: readonly CopyResult[], report: SyncReport): void {
  const { event, object } = context;
  for (const [outcome, { reason, did }] of Object.entries(OUTCOMES)) {
    const targets = results.filter((result) => result.outcome === outcome).map(({ target }) => target);
    if (targets.length > 0) event('Normal', reason, `${did} ${listed(targets)}`);
  }
  const ready = report.conditions.find(({ type }) => type === 'Ready');
  // A retried failure is recorded as an event where it is thrown.
  if (!ready || ready.status === true || report.retry !== undefined) return;
  if (isNews(object, 'Ready', ready.reason)) event('Warning', OBSTACLES[ready.reason] ?? 'SyncFailed', ready.message);
}

/** sayDeleted records an event for the deleted copies. */
export function sayDeleted({ event }: SyncContext, copies: readonly ObjectKey[]): void {
  if (copies.length > 0) event('Normal', 'DestinationDeleted', `deleted ${listed(copies)}`);
}

/**
 * sayLeft records an event for the copies that stay behind, with our labels and annotations, because the account has no
 * right to release them.
 */
export function sayLeft({ event, object, key }: SyncContext, copies: readonly ObjectKey[]): void {
  if (copies.length === 0) return;
  const account = `${key.namespace}/${object.spec.serviceAccountName}`;
  const pronoun = copies.length === 1 ? 'it' : 'them';
  event(
    'Warning',
    'DestinationLeft',
    `kept ${listed(copies)}, because the ServiceAccount ${account} lacks the permission to release ${pronoun}; delete ${pronoun} manually if no longer needed`,
  );
}

/** The maximum number of names in one event: it has at most 1024 characters. */
const MOST_NAMED = 3;

function listed(keys: readonly ObjectKey[]): string {
  const names = keys.slice(0, MOST_NAMED).map(({ namespace, name }) => `${namespace}/${name}`);
  const more = keys.length - names.length;
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ');
}
