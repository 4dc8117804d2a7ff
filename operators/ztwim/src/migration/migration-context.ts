import type { Log } from '@bowline/runtime';
import type { LiveClient } from '@bowline/runtime/controller';
import type { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import type { Config } from '../config.ts';

/** MigrationContext is the part of a run's context that a migration needs. */
export interface MigrationContext {
  readonly object: ZeroTrustWorkloadIdentityManager;
  readonly live: LiveClient;
  readonly fieldManager: string;
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly deps: { readonly config: Config };
  event(type: 'Normal', reason: string, message: string): void;
}
