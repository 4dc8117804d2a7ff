import type { SecretSummary, TokenService, TokenStatus } from '../token/token-service.ts';

/** AgentStatus describes an agent and its token. */
export interface AgentStatus extends TokenStatus {
  /** Whether this agent has initialized a blank token since it started. */
  readonly wasProvisioned: boolean;
}

/** AgentService is a token that an agent serves, as the manager uses it. */
export interface AgentService extends TokenService {
  status(signal?: AbortSignal): Promise<AgentStatus>;
  retryPin(signal?: AbortSignal): Promise<AgentStatus>;
  /** checksums returns the summaries of those paths that have a secret or a tombstone, in one call. */
  checksums(paths: readonly string[], signal?: AbortSignal): Promise<readonly SecretSummary[]>;
}
