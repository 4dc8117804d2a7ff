import type { IgnitionSyncSpec } from '../api/ignition-sync.ts';
import type { Discovery } from '../discovery/discover-gateways.ts';
import type { GatewayReport } from '../protocol/gateway-report.ts';
import type { SyncMetadata } from '../protocol/metadata.ts';
import type { RolloutPlan } from '../protocol/rollout-plan.ts';

/** WAIT_REASONS are what gateways wait for; they are labels of a metric. */
export const WAIT_REASONS = [
  'approval',
  'stage',
  'stageFailed',
  'postSyncWait',
  'order',
  'dependency',
  'peer',
  'place',
  'paused',
  'ref',
] as const;

/** WaitReason is what a gateway waits for. */
export type WaitReason = (typeof WAIT_REASONS)[number];

/** Approval is the approval of a commit by annotations of the IgnitionSync. */
export interface Approval {
  readonly commit: string;
  readonly by: string;
}

/** RefCommit is a ref and the commit that it was resolved to. */
export interface RefCommit {
  readonly ref: string;
  readonly commit: string;
}

/** RolloutInput holds what a plan follows from. Nothing else is remembered, so that a restarted controller continues. */
export interface RolloutInput {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The metadata for agents, except for the plan. Its commit and ref are those to roll out. */
  readonly metadata: Omit<SyncMetadata, 'plan'>;
  readonly discovery: Discovery;
  /** By pod name; see `collectReports`. */
  readonly reports: ReadonlyMap<string, GatewayReport>;
  readonly deployment: IgnitionSyncSpec['deployment'];
  readonly ignition: Pick<IgnitionSyncSpec['ignition'], 'redundancyRole' | 'peerGatewayName'>;
  /** The commits of the refs that pods name by `ref-override`. A missing one could not be resolved. */
  readonly overrides: ReadonlyMap<string, string>;
  /** Undefined unless both annotations are set. */
  readonly approval: Approval | undefined;
  /** The plan of the metadata ConfigMap as it is now. Empty if there is none. */
  readonly previous: RolloutPlan;
  /** Paths by pod name that are not synced until a conflict is resolved. Defaults to none. */
  readonly held?: ReadonlyMap<string, readonly string[]> | undefined;
  /** The last commit that all gateways had, from the status: for new gateways of later stages. */
  readonly lastSynced: RefCommit | undefined;
}

/** Rollout is a plan and its state. */
export interface Rollout {
  readonly plan: RolloutPlan;
  /** The first stage of canary that is not done. Undefined: all are, or there are none. */
  readonly currentStage: string | undefined;
  /** The stages that are done, in order. */
  readonly completedStages: readonly string[];
  /** The stage that waits for the approval of the commit. */
  readonly pendingApproval: string | undefined;
  /** The stages that the given approval applies to. */
  readonly approvedStages: readonly string[];
  /** Why the current stage failed: later stages are not synced. */
  readonly failure: { readonly stage: string; readonly gateway: string; readonly problem: string } | undefined;
  /** What any gateway waits for. */
  readonly waitingFor: ReadonlySet<WaitReason>;
  /** Backups that did not wait for their peer, because it is not running. */
  readonly unavailablePeers: readonly { readonly gateway: string; readonly peer: string }[];
  /** Settings that have no effect, such as unknown names in syncOrder. */
  readonly notes: readonly string[];
  /** When time alone may change the plan, in milliseconds from now. */
  readonly lookAgainMs: number | undefined;
}
