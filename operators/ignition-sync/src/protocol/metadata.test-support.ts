import { applyDefaults } from '@bowline/machinery/schema';
import { IgnitionSync, type IgnitionSyncSpec } from '../api/ignition-sync.ts';
import { minimal } from '../api/specs.test-support.ts';
import { type Config, config } from '../config.ts';
import { agentSettingsOf } from './agent-settings.ts';
import type { SyncMetadata } from './metadata.ts';

/** COMMIT_A is the commit of the metadata of unit tests. */
export const COMMIT_A: string = 'a'.repeat(40);

/** specOf returns the spec of an IgnitionSync with defaults. */
export function specOf(changes: object = {}): IgnitionSyncSpec {
  return IgnitionSync.withDefaults({ metadata: { name: 'plant' }, spec: minimal(changes) }).spec;
}

/** metadataOf returns the metadata of an IgnitionSync without a plan. */
export function metadataOf(changes: object = {}, fields: Partial<SyncMetadata> = {}): SyncMetadata {
  const spec = specOf(changes);
  return {
    commit: COMMIT_A,
    ref: 'main',
    trigger: '',
    gitURL: spec.git.repo,
    authType: 'none',
    knownHosts: '',
    paused: false,
    gatewayPort: spec.gateway.port,
    gatewayTLS: spec.gateway.tls,
    excludePatterns: spec.excludePatterns,
    settings: agentSettingsOf(spec, applyDefaults({}, config.json) as Config),
    profiles: {},
    plan: {},
    rollback: spec.rollback,
    crUID: 'uid',
    ...fields,
  };
}
