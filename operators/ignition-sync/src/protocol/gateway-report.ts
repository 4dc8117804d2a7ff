import { canonicalJson } from '@bowline/machinery';
import { type Read, s } from '@bowline/runtime/resource';
import { MAX_MESSAGE_LENGTH, MAX_PROJECTS } from '../api/ignition-sync-status.ts';
import { decodeJson } from './decode-json.ts';
import { SCHEMA } from './metadata.ts';

/** MAX_REPORT_BYTES is the maximum size of the report of one gateway: 400 of them fit into a ConfigMap. */
export const MAX_REPORT_BYTES = 2 * 1024;

const count = () => s.integer().min(0);
const text = (maxLength: number) => s.string().maxLength(maxLength);

const gatewayReport = s.object({
  syncStatus: s.enum(['Pending', 'Syncing', 'Synced', 'Error']),
  /** The commit and ref that the gateway has loaded completely. */
  syncedCommit: text(64).optional(),
  syncedRef: text(255).optional(),
  /** The desired state that this report is about; see `desiredHash`. */
  appliedHash: text(64).optional(),
  lastSyncTime: text(40).optional(),
  /** For example 2.5s. */
  lastSyncDuration: text(32).optional(),
  agentVersion: text(64).optional(),
  /** For example projects=200 config=200. */
  lastScanResult: text(256).optional(),
  filesChanged: count().optional(),
  projectsSynced: s.array(text(255)).maxItems(MAX_PROJECTS).optional(),
  /** The class of the failure, for conditions. */
  errorReason: text(64).optional(),
  errorMessage: text(MAX_MESSAGE_LENGTH).optional(),
  /** When the sync of the desired state failed first. */
  failedAt: text(40).optional(),
  /** What a sync would change, if it only reports. */
  dryRun: s.object({ added: count(), modified: count(), deleted: count() }).optional(),
  /** The managed files that were changed on the gateway, and the names of some. */
  drifted: s.object({ count: count(), paths: s.array(text(255)).maxItems(5) }).optional(),
  /** The result of the health check of the stage at syncedCommit. */
  stageHealth: s.enum(['Healthy', 'Unhealthy']).optional(),
  lastSnapshot: s.object({ id: text(255), size: text(32).optional(), timestamp: text(40).optional() }).optional(),
  /** The commit that was rolled back and is not tried again. */
  rejectedCommit: text(64).optional(),
  /** The number of Designer sessions that the sync waits for. */
  sessionsBlocking: count().optional(),
  /** Whether the agent sends changes of the gateway to Git. */
  isWatching: s.boolean().optional(),
  /** Paths that were changed on the gateway and in Git. */
  conflicts: s.array(text(255)).maxItems(5).optional(),
});

/** GatewayReport is the state of one gateway as its agent reports it. */
export type GatewayReport = Read<typeof gatewayReport>;

/**
 * encodeReport returns the value of a gateway's key in the status ConfigMap. A report that would be too large loses
 * names of projects and files, and then the end of its message.
 */
export function encodeReport(report: GatewayReport): string {
  let { projectsSynced, drifted, conflicts, errorMessage } = report;
  for (;;) {
    const encoded = canonicalJson({ schema: SCHEMA, ...report, projectsSynced, drifted, conflicts, errorMessage });
    if (Buffer.byteLength(encoded) <= MAX_REPORT_BYTES) return encoded;
    if (projectsSynced !== undefined && projectsSynced.length > 0)
      projectsSynced = projectsSynced.slice(0, Math.floor(projectsSynced.length / 2));
    else if (drifted !== undefined && drifted.paths.length > 0) drifted = { ...drifted, paths: [] };
    else if (conflicts !== undefined) conflicts = undefined;
    else if (errorMessage) errorMessage = `${[...errorMessage].slice(0, errorMessage.length / 2).join('')}…`;
    else return encoded;
  }
}

/** decodeReport reads the value of a gateway's key. It throws ProtocolError, also if it is too large. */
export function decodeReport(key: string, value: string): GatewayReport {
  return decodeJson(key, value, gatewayReport);
}
