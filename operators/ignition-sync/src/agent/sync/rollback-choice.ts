import type { SnapshotRecord } from '../../snapshots/snapshot-index.ts';
import type { Target } from '../target.ts';
import type { LoadError, RollbackTrigger } from './load-gateway.ts';

/** rollbackTrigger returns the trigger by which a failure makes the gateway return to its snapshot; undefined if it does not. */
export function rollbackTrigger(
  { triggers }: Pick<LoadError, 'triggers'>,
  { metadata }: Target,
): RollbackTrigger | undefined {
  const { autoRollback, snapshots } = metadata.settings;
  if (!autoRollback?.enabled || !snapshots?.enabled) return undefined;
  return triggers.find((trigger) => autoRollback.triggers.includes(trigger));
}

/**
 * snapshotBefore returns the snapshot with the state before a commit. The commit may have been placed by several syncs in a row, so
 * it is the first of them. Undefined if the gateway had no commit before: there is nothing to return to.
 */
export function snapshotBefore(snapshots: readonly SnapshotRecord[], commit: string): SnapshotRecord | undefined {
  let found: SnapshotRecord | undefined;
  for (const record of snapshots.toReversed()) {
    if (record.toCommit !== commit) break;
    found = record;
    if (record.fromCommit !== commit) break;
  }
  return found?.fromCommit === undefined || found.fromCommit === commit ? undefined : found;
}
