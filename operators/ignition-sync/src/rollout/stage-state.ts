import type { Member, MemberState } from './member.ts';
import type { Rollout, RolloutInput } from './rollout.ts';
import type { Stage } from './stages.ts';

/** StageState is how far a stage is with a commit. */
export interface StageState<G> {
  readonly stage: Stage<G>;
  /** Whether the next stage may start. */
  readonly isDone: boolean;
  /** Since when all gateways of the stage have the commit. */
  readonly syncedAt: string | undefined;
  /** The rest of postSyncWait. Undefined: it has passed, or has not begun. */
  readonly doneInMs: number | undefined;
  readonly failure: Rollout['failure'];
  /** Whether the stage must not start without an approval that is not given. */
  readonly needsApproval: boolean;
  /** Whether the approval that is given applies to the stage. */
  readonly isApproved: boolean;
  readonly notes: readonly string[];
}

/**
 * observeStages returns the state of each stage. A stage that was done stays done for its commit while none of its gateways
 * fails: the restart of a gateway, or new settings, do not hold up later stages.
 */
export function observeStages(
  stages: readonly Stage<Member>[],
  input: RolloutInput,
  stateOf: (member: Member) => MemberState,
): StageState<Member>[] {
  return stages.map((stage) => observeStage(stage, input, stateOf));
}

function observeStage(
  stage: Stage<Member>,
  { now, metadata, approval }: RolloutInput,
  stateOf: (member: Member) => MemberState,
): StageState<Member> {
  const running = stage.members.filter(({ pod }) => pod.phase === 'Running');
  const counted = running.filter(({ isApart }) => !isApart);
  const failure = stage.name === undefined ? undefined : failureOf(stage, counted, stateOf);
  const isSynced =
    (running.length > 0 || !stage.needsGateway) &&
    counted.every((member) => stateOf(member) === 'synced' && isHealthy(member, stage));
  const since = stage.needsGateway
    ? (knownSince(stage, metadata.commit, now) ?? (isSynced ? now : undefined))
    : undefined;
  const isComplete = stage.needsGateway ? since !== undefined : isSynced;
  const doneInMs = Math.max(0, (since ?? now) + stage.postSyncWaitMs - now);
  const isApproved = approval?.commit === metadata.commit && approval.by !== '';
  const hasNone = stage.needsGateway && running.length === 0;
  return {
    stage,
    isDone: failure === undefined && isComplete && doneInMs === 0,
    syncedAt: since === undefined ? undefined : new Date(since).toISOString(),
    doneInMs: isComplete && doneInMs > 0 ? doneInMs : undefined,
    failure,
    needsApproval: stage.requireApproval && !isApproved,
    isApproved: stage.requireApproval && isApproved,
    notes: hasNone
      ? [`stage ${stage.name} has no running gateway, so that later stages wait; start one, or remove the stage`]
      : [],
  };
}

function isHealthy({ report }: Member, { healthCheckUrl }: Stage<Member>): boolean {
  return healthCheckUrl === undefined || report?.stageHealth === 'Healthy';
}

function failureOf(
  stage: Stage<Member>,
  members: readonly Member[],
  stateOf: (member: Member) => MemberState,
): Rollout['failure'] {
  for (const member of members) {
    const state = stateOf(member);
    const { name: gateway, report } = member;
    const failure = { stage: stage.name ?? '', gateway };
    if (state === 'failed') return { ...failure, problem: report?.errorReason ?? 'the sync failed' };
    if (state === 'synced' && stage.healthCheckUrl !== undefined && report?.stageHealth === 'Unhealthy')
      return { ...failure, problem: 'the health check failed' };
  }
  return undefined;
}

/** knownSince returns when the stage had the commit, from the plan before. A time in the future counts as now. */
function knownSince(stage: Stage<Member>, commit: string, now: number): number | undefined {
  const times = stage.members
    .filter(({ previous, isApart }) => !isApart && previous?.commit === commit && previous.stage === stage.name)
    .map(({ previous }) => Date.parse(previous?.stageSyncedAt ?? ''))
    .filter((time) => !Number.isNaN(time));
  return times.length === 0 ? undefined : Math.min(now, ...times);
}
