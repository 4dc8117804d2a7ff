import { parseDuration } from '@bowline/machinery';
import { BowlineError } from '@bowline/runtime';
import type { Client } from '@bowline/runtime/client';
import { SINGLETON } from '../api/names.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';

/** MigrationResult is how a migration or a rollback ended. */
export interface MigrationResult {
  readonly phase: string;
  readonly reason: string;
  readonly backup?: string | undefined;
}

/** MigrationWait configures what a command waits for. */
export interface MigrationWait {
  /** The phase in which it ends successfully. */
  readonly phase: string;
  /** Whether the object is in the state that belongs to the phase: the phase may be older than the request. */
  readonly isDone: (object: ZeroTrustWorkloadIdentityManager) => boolean;
  /** The object before the request, if it existed. */
  readonly before: ZeroTrustWorkloadIdentityManager | undefined;
  readonly timeout: string;
  readonly signal: AbortSignal;
}

/** untilMigrated waits until the operator has done what was requested, or reports why it cannot. */
export async function untilMigrated(client: Client, wait: MigrationWait): Promise<MigrationResult> {
  const { phase, isDone, before, timeout } = wait;
  const deadline = AbortSignal.timeout(parseDuration(timeout));
  const signal = AbortSignal.any([wait.signal, deadline]);
  const known = JSON.stringify(before?.status?.migration);
  try {
    for (;;) {
      const stream = await client.watch(ZeroTrustWorkloadIdentityManager, {
        fieldSelector: `metadata.name=${SINGLETON}`,
        signal,
      });
      for await (const { type, object } of stream) {
        const migration = object.status?.migration;
        if (type === 'DELETED' || type === 'BOOKMARK' || !migration) continue;
        const result = { phase: migration.phase, reason: migration.reason ?? '', backup: migration.backup };
        if (migration.phase === phase && isDone(object)) return result;
        // A problem that the operator reported before is not about this request.
        const isNew = JSON.stringify(migration) !== known;
        if (isNew && (migration.phase === 'Failed' || migration.phase === 'Conflict')) return result;
      }
    }
  } catch (error) {
    if (!deadline.aborted) throw error;
    throw new BowlineError(
      'BOWLINE_ZTWIM_MIGRATION_FAILED',
      `the operator has not finished in ${timeout}; check that it runs, and see \`kubectl describe ztwim ${SINGLETON}\`: it continues without this command`,
      { cause: error },
    );
  }
}
