import { BowlineError } from '@bowline/machinery';

/** SnapshotError reports a snapshot that could not be stored, or one that cannot be restored. No live file has changed. */
export class SnapshotError extends BowlineError {
  readonly reason: 'SnapshotFailed' | 'RollbackFailed';

  constructor(reason: SnapshotError['reason'], message: string, options: { readonly cause?: unknown } = {}) {
    super('BOWLINE_IGNITION_SNAPSHOT', message, { ...options, retryable: true });
    this.reason = reason;
  }
}
