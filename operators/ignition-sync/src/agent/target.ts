import { createHash } from 'node:crypto';
import { canonicalJson } from '@bowline/machinery';
import { type EffectiveSettings, effectiveSettings } from '../gateways/effective-settings.ts';
import { desiredHash, stateHash } from '../protocol/desired-hash.ts';
import type { SyncMetadata } from '../protocol/metadata.ts';
import type { GatewayPlan } from '../protocol/rollout-plan.ts';
import { snapshotOf } from '../protocol/snapshot-of.ts';
import { describeFailure, type Failure } from './agent-error.ts';
import type { ObservedMetadata } from './cluster/metadata-source.ts';
import type { PodInfo } from './pod-info.ts';

/** Target is the state that a gateway should have. */
export interface Target {
  readonly metadata: SyncMetadata;
  readonly plan: GatewayPlan & { readonly commit: string; readonly ref: string };
  /** Identifies the state for the controller. */
  readonly hash: string;
  /** Identifies the state and the settings of the pod: whenever it changes, the gateway is synced. */
  readonly key: string;
  readonly settings: EffectiveSettings;
  /** The snapshot that the gateway stays at. Undefined: it follows its commit. */
  readonly snapshot: string | undefined;
}

/** Decision is what an agent should do now. */
export type Decision =
  /** Nothing is known yet: keep what the gateway has, and report nothing. */
  | { readonly kind: 'unknown' | 'forbidden' | 'missing' }
  /** Neither fetch nor place anything; the gateway may start. */
  | { readonly kind: 'paused'; readonly metadata: SyncMetadata }
  /** The gateway keeps what it has. `first` is what a gateway without any files places nevertheless. */
  | { readonly kind: 'waiting'; readonly metadata: SyncMetadata; readonly message: string; readonly first?: Target }
  /** The desired state cannot be understood. */
  | {
      readonly kind: 'problem';
      readonly metadata: SyncMetadata | undefined;
      readonly failure: Failure;
      readonly hash?: string | undefined;
    }
  | { readonly kind: 'sync'; readonly target: Target };

/** AgentIdentity is the pod of an agent. */
export interface AgentIdentity {
  readonly podName: string;
  readonly namespace: string;
  readonly gatewayName: string;
}

/** decide returns what an agent should do, from what it knows. It is pure. */
export function decide(observed: ObservedMetadata, pod: PodInfo, identity: AgentIdentity): Decision {
  switch (observed.kind) {
    case 'valid':
      return decideFor(observed.metadata, pod, identity);
    case 'invalid':
      return { kind: 'problem', metadata: undefined, failure: describeFailure(observed.error) };
    default:
      return { kind: observed.kind };
  }
}

function decideFor(metadata: SyncMetadata, pod: PodInfo, identity: AgentIdentity): Decision {
  const { podName, namespace, gatewayName } = identity;
  if (metadata.paused) return { kind: 'paused', metadata };
  const plan = metadata.plan[podName];
  const { commit, ref = '' } = plan ?? {};
  const result = effectiveSettings({
    metadata,
    plan,
    ...pod,
    podName,
    namespace,
    gatewayName: plan?.name ?? gatewayName,
  });
  const released = desiredHash(metadata, podName);
  if (result.problem !== undefined) return { kind: 'problem', metadata, failure: result.problem, hash: released };
  const { settings } = result;
  if (settings.paused) return { kind: 'paused', metadata };
  const message = plan?.waitingFor ?? 'waiting until the controller has planned the gateway';
  const hash = plan === undefined ? undefined : stateHash(metadata, plan);
  if (plan === undefined || commit === undefined || hash === undefined) return { kind: 'waiting', metadata, message };
  const target: Target = {
    metadata,
    plan: { ...plan, commit, ref },
    hash,
    key: keyOf(hash, settings, metadata),
    settings,
    snapshot: snapshotOf(metadata.rollback, plan),
  };
  return released === undefined ? { kind: 'waiting', metadata, message, first: target } : { kind: 'sync', target };
}

/**
 * Settings also follow from annotations and labels of the pod, which the controller's hash does not contain. How Git and the gateway
 * are reached does not change the state, but a failed sync is worth another attempt then.
 */
function keyOf(hash: string, { tree, dryRun }: EffectiveSettings, metadata: SyncMetadata): string {
  const { gitURL, authType, knownHosts, gatewayPort, gatewayTLS } = metadata;
  const state = { hash, tree, dryRun, gitURL, authType, knownHosts, gatewayPort, gatewayTLS };
  return createHash('sha256').update(canonicalJson(state)).digest('hex').slice(0, 32);
}
