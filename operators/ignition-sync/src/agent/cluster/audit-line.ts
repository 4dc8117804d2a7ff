import type { Log } from '@bowline/runtime';

/** SyncTrigger is why a sync took place. */
export type SyncTrigger = 'webhook' | 'polling' | 'manual' | 'drift' | 'rollback';

/** AuditLine records one sync in the log. */
export interface AuditLine {
  readonly timestamp: string;
  readonly cr: string;
  readonly namespace: string;
  readonly gateway: string;
  readonly podName: string;
  readonly trigger: SyncTrigger;
  readonly commit: string;
  readonly ref: string;
  readonly filesChanged: number;
  readonly projectsSynced: readonly string[];
  readonly duration: string;
  readonly result: string;
  readonly scanResult: string | undefined;
}

/** writeAuditLine writes the line of one sync, always with the same message and fields. */
export function writeAuditLine(log: Log, line: AuditLine): void {
  log.info('sync', { audit: true, ...line });
}
