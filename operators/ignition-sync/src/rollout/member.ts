import { POD_ANNOTATIONS } from '../api/names.ts';
import type { Gateway } from '../discovery/discover-gateways.ts';
import type { GatewayReport } from '../protocol/gateway-report.ts';
import type { GatewayPlan } from '../protocol/rollout-plan.ts';
import { snapshotOf } from '../protocol/snapshot-of.ts';
import type { RefCommit, RolloutInput } from './rollout.ts';

/** MemberState is how far a gateway is with a commit. */
export type MemberState =
  /** It may not sync this state yet. */
  | 'unreleased'
  /** It may sync, and has not finished. */
  | 'syncing'
  | 'synced'
  /** The sync failed or was rolled back. The agent repeats it, unless it was rolled back. */
  | 'failed';

/** Member is a gateway in a rollout. */
export interface Member {
  readonly name: string;
  readonly pod: Gateway['pod'];
  readonly podName: string;
  /** The parts of its plan that do not depend on the rollout. */
  readonly base: GatewayPlan;
  readonly previous: GatewayPlan | undefined;
  readonly report: GatewayReport | undefined;
  /** Whether its agent starts: it needs files before the gateway can run, and is not limited. */
  readonly isStarting: boolean;
  /** The commit that it should have in the end. Undefined: its ref could not be resolved. */
  readonly target: RefCommit | undefined;
  /** Whether stages and order do not apply: it follows another ref, stays at a snapshot, or is paused. */
  readonly isApart: boolean;
  /** Whether its profile is paused. */
  readonly isPaused: boolean;
  readonly role: 'primary' | 'backup' | undefined;
  /** The name of the other gateway of a redundant pair. */
  readonly peer: string | undefined;
}

/** membersOf returns the gateways of a rollout: those that run, and those that start. */
export function membersOf(input: RolloutInput): Member[] {
  const { gateways, starting } = input.discovery;
  return [
    ...gateways.map((gateway) => memberOf(gateway, input, !gateway.pod.isAgentReady)),
    ...starting.map((gateway) => memberOf(gateway, input, true)),
  ];
}

function memberOf({ name, key, pod }: Gateway, input: RolloutInput, isStarting: boolean): Member {
  const { metadata, overrides, ignition, held } = input;
  const annotation = (id: keyof typeof POD_ANNOTATIONS): string | undefined =>
    pod.annotations[POD_ANNOTATIONS[id]] || undefined;
  const override = annotation('refOverride');
  const commit = override === undefined ? metadata.commit : overrides.get(override);
  const role = annotation('redundancyRole') ?? ignition.redundancyRole;
  const profile = annotation('syncProfile');
  const isPaused = profile !== undefined && metadata.profiles[profile]?.spec?.paused === true;
  return {
    name,
    pod,
    podName: pod.name,
    base: { name, key, profile, held: held?.get(pod.name)?.slice() },
    previous: input.previous[pod.name],
    report: input.reports.get(pod.name),
    isStarting,
    target: commit === undefined ? undefined : { commit, ref: override ?? metadata.ref },
    isApart: override !== undefined || snapshotOf(metadata.rollback, { name, key }) !== undefined || isPaused,
    isPaused,
    role: role === 'primary' || role === 'backup' ? role : undefined,
    peer: annotation('peerGatewayName') ?? ignition.peerGatewayName,
  };
}

/** stateAt returns how far a gateway is with the state that a hash identifies. */
export function stateAt({ report, previous }: Member, hash: string, commit: string): MemberState {
  if (report?.appliedHash !== hash) return previous?.released === hash ? 'syncing' : 'unreleased';
  if (report.rejectedCommit === commit || report.syncStatus === 'Error') return 'failed';
  return report.syncStatus === 'Synced' ? 'synced' : 'syncing';
}
