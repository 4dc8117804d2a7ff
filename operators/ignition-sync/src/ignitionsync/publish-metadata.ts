import { ConfigMap } from '@bowline/kubernetes';
import { canonicalJson, formatTime } from '@bowline/machinery';
import type { IgnitionSyncSpec, IgnitionSyncStatus } from '../api/ignition-sync.ts';
import { objectNames } from '../api/names.ts';
import type { AgentProfile } from '../protocol/agent-profile.ts';
import { agentSettingsOf } from '../protocol/agent-settings.ts';
import { encodeMetadata, MAX_METADATA_BYTES, type SyncMetadata } from '../protocol/metadata.ts';
import { labelsOf } from './provide-objects.ts';
import { syncTrigger } from './requested-ref.ts';
import type { SourceState } from './source-state.ts';
import type { SyncContext } from './sync-controller.ts';

/** MetadataDraft is what agents are told, except for the plan. */
export type MetadataDraft = Omit<SyncMetadata, 'plan'>;

/**
 * draftMetadata returns what agents are told. Undefined if no commit is known, or if the one that is known is of another
 * repository.
 */
export function draftMetadata(
  { object, key, deps, get }: SyncContext,
  options: {
    readonly state: SourceState;
    readonly stored: SyncMetadata | undefined;
    readonly profiles: Readonly<Record<string, AgentProfile>>;
    readonly paused: boolean;
  },
): MetadataDraft | undefined {
  const { state, stored, profiles, paused } = options;
  const { spec, metadata: { annotations, uid = '' } = {} } = object;
  const { target, isCurrent, knownHosts } = state;
  // An agent that starts must learn that it is paused, also before the first commit.
  if (!target && !paused) return undefined;
  if (!isCurrent && stored !== undefined && stored.gitURL !== spec.git.repo && !paused) return undefined;
  return {
    commit: target?.commit ?? '',
    ref: target?.ref ?? '',
    // With an old commit, agents would sync once for the request and again for the commit that it brings.
    trigger: isCurrent ? syncTrigger(annotations) : (stored?.trigger ?? ''),
    // A paused agent must not get another repository together with the commit of the old one.
    gitURL: paused ? (stored?.gitURL ?? spec.git.repo) : spec.git.repo,
    authType: authTypeOf(spec.git),
    knownHosts,
    paused,
    gatewayPort: spec.gateway.port,
    gatewayTLS: spec.gateway.tls,
    excludePatterns: spec.excludePatterns,
    settings: agentSettingsOf(spec, deps.config),
    profiles,
    rollback: spec.rollback,
    crUID: uid,
    statusUID: get(ConfigMap, { namespace: key.namespace, name: objectNames(key.name).status })?.metadata?.uid,
  };
}

/** PublishResult is the result of writing metadata. */
export type PublishResult =
  | { readonly outcome: 'published'; readonly fields: Partial<IgnitionSyncStatus> }
  /** Only the plan differs, and it is written later. */
  | { readonly outcome: 'delayed'; readonly delayMs: number }
  | { readonly outcome: 'too-large'; readonly message: string };

/** publishMetadata writes the metadata ConfigMap if its content changes. Further steps of a plan are written once a second. */
export async function publishMetadata(
  context: SyncContext,
  metadata: SyncMetadata,
  stored: SyncMetadata | undefined,
): Promise<PublishResult> {
  const { key, object, apply, deps, clock } = context;
  const data = encodeMetadata(metadata);
  const size = Object.entries(data).reduce((sum, [name, value]) => sum + name.length + Buffer.byteLength(value), 0);
  if (size > MAX_METADATA_BYTES) {
    const message = `agents would have to read ${size} bytes, and at most ${MAX_METADATA_BYTES} are allowed; use fewer or smaller SyncProfiles, or several IgnitionSyncs`;
    return { outcome: 'too-large', message };
  }
  const uid = object.metadata?.uid ?? '';
  const delayMs = deps.memory.detailsDelayMs(key, uid);
  if (delayMs > 0 && stored && differsInPlanOnly(metadata, stored)) return { outcome: 'delayed', delayMs };
  const name = objectNames(key.name).metadata;
  const labels = labelsOf(key.name);
  const { outcome } = await apply(ConfigMap, { metadata: { namespace: key.namespace, name, labels }, data });
  if (outcome !== 'unchanged') deps.memory.detailsWritten(key, uid);
  const { commit, ref } = metadata;
  if (commit === '') return { outcome: 'published', fields: {} };
  const { lastSyncTime, lastSyncCommit } = object.status ?? {};
  const time = lastSyncCommit === commit && lastSyncTime !== undefined ? lastSyncTime : formatTime(clock.now());
  return { outcome: 'published', fields: { lastSyncCommit: commit, lastSyncRef: ref, lastSyncTime: time } };
}

function differsInPlanOnly(metadata: SyncMetadata, stored: SyncMetadata): boolean {
  const withoutPlan = (each: SyncMetadata): string => canonicalJson(encodeMetadata({ ...each, plan: {} }));
  return canonicalJson(metadata.plan) !== canonicalJson(stored.plan) && withoutPlan(metadata) === withoutPlan(stored);
}

function authTypeOf({ auth }: IgnitionSyncSpec['git']): SyncMetadata['authType'] {
  if (auth?.sshKey) return 'ssh';
  if (auth?.githubApp) return 'githubApp';
  return auth?.token ? 'token' : 'none';
}
