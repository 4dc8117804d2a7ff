import type { Counter, Gauge, Histogram, Metrics } from '@bowline/runtime';

/** AgentMetrics are the metrics of an agent. */
export interface AgentMetrics {
  readonly syncs: Counter;
  readonly syncDuration: Histogram;
  readonly skipped: Counter;
  readonly files: Counter;
  readonly bytesWritten: Counter;
  readonly fetchDuration: Histogram;
  readonly receivedBytes: Counter;
  readonly scans: Counter;
  readonly scanDuration: Histogram;
  readonly designerSessions: Gauge;
  readonly driftedFiles: Gauge;
  readonly snapshots: Counter;
  readonly rollbacks: Counter;
  readonly recoveries: Counter;
  readonly lastSyncSuccess: Gauge;
  readonly lastSyncTimestamp: Gauge;
  readonly gatewayStartDuration: Gauge;
}

const PREFIX = 'ignition_sync_agent';
const SECONDS = [0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300];

/** The values of the label `trigger` of rollbacks. */
const ROLLBACK_TRIGGERS = ['manual', 'scanFailure', 'projectLoadError', 'configError', 'healthCheckFailure'] as const;
/** SKIP_REASONS are the values of the label `reason` of skipped syncs. */
export const SKIP_REASONS = ['paused', 'dryRun', 'rejected', 'missing', 'waiting'] as const;

/** agentMetrics creates the metrics of an agent. Every series exists from the start. */
export function agentMetrics(metrics: Metrics): AgentMetrics {
  const counter = (name: string, help: string, label?: string, values: readonly string[] = []): Counter => {
    const labels = label === undefined ? [] : [label];
    const created = metrics.counter({ name: `${PREFIX}_${name}`, help, labels });
    if (label === undefined) created.add({}, 0);
    for (const value of values) created.add({ [label ?? '']: value }, 0);
    return created;
  };
  const gauge = (name: string, help: string): Gauge => {
    const created = metrics.gauge({ name: `${PREFIX}_${name}`, help });
    created.set(0);
    return created;
  };
  const histogram = (name: string, help: string): Histogram =>
    metrics.histogram({ name: `${PREFIX}_${name}`, help, buckets: SECONDS });
  return {
    syncs: counter('sync_total', 'Syncs by result.', 'result', ['success', 'failure']),
    syncDuration: histogram('sync_duration_seconds', 'Duration of syncs, with the scan.'),
    skipped: counter('sync_skipped_total', 'Desired states that were not synced, by reason.', 'reason', SKIP_REASONS),
    files: counter('files_total', 'Files that syncs changed, by action.', 'action', ['add', 'modify', 'delete']),
    bytesWritten: counter('bytes_written_total', 'Bytes of the blobs that syncs placed.'),
    fetchDuration: histogram('git_fetch_duration_seconds', 'Duration of fetches from the Git server.'),
    receivedBytes: counter('git_received_bytes_total', 'Bytes of the packs that were received from the Git server.'),
    scans: counter('scan_total', 'Scans of the gateway by result.', 'result', ['success', 'unconfirmed', 'failure']),
    scanDuration: histogram('scan_duration_seconds', 'Duration of scans of the gateway.'),
    designerSessions: gauge('designer_sessions', 'Designer sessions that the current sync waits for.'),
    driftedFiles: gauge('drifted_files', 'Managed files that were changed on the gateway.'),
    snapshots: counter('snapshots_total', 'Snapshots by result.', 'result', ['success', 'failure']),
    rollbacks: counter('rollback_total', 'Rollbacks by trigger.', 'trigger', ROLLBACK_TRIGGERS),
    recoveries: counter('recoveries_total', 'Syncs of a killed agent that were finished at the next start.'),
    lastSyncSuccess: gauge('last_sync_success', 'Whether the last sync succeeded: 1 or 0.'),
    lastSyncTimestamp: gauge('last_sync_timestamp_seconds', 'When the last sync ended.'),
    gatewayStartDuration: gauge(
      'gateway_start_duration_seconds',
      'How long the gateway took to answer after its files were placed.',
    ),
  };
}
