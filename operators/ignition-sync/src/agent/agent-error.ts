import { BowlineError } from '@bowline/machinery';
import { SyncError } from '../engine/sync-error.ts';
import { DesignerSessionsError } from '../gateway/designer-policy.ts';
import { GatewayError } from '../gateway/gateway-error.ts';
import { GitError } from '../git/errors/git-error.ts';
import { ProtocolError } from '../protocol/decode-json.ts';
import { ProtocolMismatch } from '../protocol/metadata.ts';
import { SnapshotError } from '../snapshots/snapshot-error.ts';
import { OriginChanged } from './source/repository-address.ts';

/** AgentReason is the class of a sync that stopped outside of Git, the engine and the gateway's own calls. */
export type AgentReason =
  /** The validation webhook refused the sync. */
  | 'ValidationRefused'
  /** The gateway did not accept the scan. */
  | 'ScanFailed'
  /** The gateway did not load a project that was placed. */
  | 'ProjectLoadError'
  /** The health check of the stage failed. */
  | 'HealthCheckFailed'
  /** The SyncProfile that the pod names does not exist or is not accepted. */
  | 'ProfileNotFound'
  /** An annotation of the pod is not valid. */
  | 'InvalidAnnotation';

/** AgentError is a sync that an agent stopped. */
export class AgentError extends BowlineError {
  readonly reason: AgentReason;

  constructor(reason: AgentReason, message: string, options: { readonly cause?: unknown } = {}) {
    super('BOWLINE_IGNITION_AGENT', message, { ...options, retryable: true });
    this.reason = reason;
  }
}

/** Failure is the class and the message of a failed sync, as an agent reports them. */
export interface Failure {
  readonly reason: string;
  readonly message: string;
}

/** describeFailure returns what is reported about an error. Only messages of our own errors are shown to users. */
export function describeFailure(error: unknown): Failure {
  if (error instanceof AgentError || error instanceof SyncError)
    return { reason: error.reason, message: error.message };
  // Its message begins with the reason, which is reported beside it.
  if (error instanceof GitError) return { reason: error.reason, message: error.message.slice(error.reason.length + 2) };
  if (error instanceof SnapshotError) return { reason: error.reason, message: error.message };
  if (error instanceof OriginChanged) return { reason: 'OriginChanged', message: error.message };
  if (error instanceof ProtocolMismatch) return { reason: 'ProtocolMismatch', message: error.message };
  if (error instanceof ProtocolError) return { reason: 'InvalidMetadata', message: error.message };
  if (error instanceof DesignerSessionsError) return { reason: 'DesignerSessionsBlocked', message: error.message };
  if (error instanceof GatewayError) return { reason: 'GatewayCallFailed', message: error.message };
  if (error instanceof BowlineError) return { reason: 'SyncFailed', message: error.message };
  const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
  return { reason: 'SyncFailed', message: `the sync failed${code}; see the log of the agent` };
}
