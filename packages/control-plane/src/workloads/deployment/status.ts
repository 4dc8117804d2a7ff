import type { Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet } from '@bowline/kubernetes';
import { formatTime, parseTime } from '@bowline/machinery';
import { availableOf, replicasOf, rolloutBounds, totalOf } from './rolling-update.ts';

/** DeploymentFacts holds the state that a Deployment's status is computed from. */
export interface DeploymentFacts {
  readonly newest: ReplicaSet | undefined;
  readonly all: readonly ReplicaSet[];
  readonly now: number;
  /** Whether a rollout progresses or is waited for; false while only the size changes. */
  readonly isRollout: boolean;
  /** Set if the newest ReplicaSet was just created, or found again. */
  readonly created?: 'NewReplicaSetCreated' | 'FoundNewReplicaSet' | undefined;
}

/** The value that the API uses for "no deadline". */
const NO_DEADLINE = 2 ** 31 - 1;

/** deploymentStatus returns the status that a Deployment should have. */
export function deploymentStatus(deployment: Deployment, facts: DeploymentFacts): DeploymentStatus {
  const counts = countsOf(deployment, facts);
  const available = isAvailableEnough(deployment, counts.availableReplicas ?? 0);
  let conditions = setCondition(deployment.status?.conditions ?? [], available, facts.now);
  const progress = progressOf(deployment, counts, facts);
  if (progress === 'none') conditions = conditions.filter(({ type }) => type !== 'Progressing');
  else if (progress) conditions = setCondition(conditions, progress, facts.now, progress.isRefreshed);
  const failure = facts.newest?.status?.conditions?.find(({ type }) => type === 'ReplicaFailure');
  if (failure) {
    const { status, reason, message } = failure;
    conditions = setCondition(conditions, { type: 'ReplicaFailure', status, reason, message }, facts.now);
  } else conditions = conditions.filter(({ type }) => type !== 'ReplicaFailure');
  return { ...counts, conditions };
}

/**
 * untilDeadlineMs returns how long a rollout may still take; undefined if it is done, has failed or has no deadline.
 */
export function untilDeadlineMs({ spec, status }: Deployment, now: number): number | undefined {
  const deadline = spec?.progressDeadlineSeconds ?? NO_DEADLINE;
  const progress = status?.conditions?.find(({ type }) => type === 'Progressing');
  if (deadline === NO_DEADLINE || spec?.paused || !progress) return undefined;
  if (progress.reason === 'NewReplicaSetAvailable' || progress.reason === 'ProgressDeadlineExceeded') return undefined;
  return Math.max(0, parseTime(progress.lastUpdateTime ?? '') + deadline * 1_000 - now) + 1_000;
}

/** isComplete reports whether all Pods run the current template and nothing is left to do. */
export function isComplete(deployment: Deployment, status: DeploymentStatus | undefined): boolean {
  const wanted = replicasOf(deployment);
  return (
    (status?.updatedReplicas ?? 0) === wanted &&
    (status?.replicas ?? 0) === wanted &&
    (status?.availableReplicas ?? 0) === wanted &&
    (status?.observedGeneration ?? 0) >= (deployment.metadata?.generation ?? 0)
  );
}

function countsOf(deployment: Deployment, { newest, all }: DeploymentFacts): DeploymentStatus {
  const available = availableOf(all);
  const sum = (count: (set: ReplicaSet) => number | undefined): number =>
    all.reduce((total, set) => total + (count(set) ?? 0), 0);
  const { collisionCount } = deployment.status ?? {};
  return {
    observedGeneration: deployment.metadata?.generation,
    replicas: sum(({ status }) => status?.replicas),
    updatedReplicas: newest?.status?.replicas ?? 0,
    readyReplicas: sum(({ status }) => status?.readyReplicas),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, totalOf(all) - available),
    terminatingReplicas: sum(({ status }) => status?.terminatingReplicas),
    ...(collisionCount === undefined ? {} : { collisionCount }),
  };
}

type ConditionUpdate = Pick<DeploymentCondition, 'type' | 'status' | 'reason' | 'message'>;

function isAvailableEnough(deployment: Deployment, available: number): ConditionUpdate {
  const isEnough = available >= replicasOf(deployment) - rolloutBounds(deployment).maxUnavailable;
  return isEnough
    ? condition('Available', 'True', 'MinimumReplicasAvailable', 'Deployment has minimum availability.')
    : condition('Available', 'False', 'MinimumReplicasUnavailable', 'Deployment does not have minimum availability.');
}

/** Returns the condition Progressing; `none` if it does not apply, undefined if the present one still holds. */
function progressOf(
  deployment: Deployment,
  counts: DeploymentStatus,
  { newest, now, isRollout, created }: DeploymentFacts,
): (ConditionUpdate & { readonly isRefreshed: boolean }) | 'none' | undefined {
  const { spec, status: before } = deployment;
  if ((spec?.progressDeadlineSeconds ?? NO_DEADLINE) === NO_DEADLINE) return 'none';
  const current = before?.conditions?.find(({ type }) => type === 'Progressing');
  const name = newest?.metadata?.name;
  const subject = name === undefined ? `Deployment "${deployment.metadata?.name ?? ''}"` : `ReplicaSet "${name}"`;
  const as = (status: 'True' | 'False' | 'Unknown', reason: string, message: string, isRefreshed = false) => ({
    ...condition('Progressing', status, reason, message),
    isRefreshed,
  });
  if (spec?.paused) {
    if (current?.reason === 'ProgressDeadlineExceeded' || current?.reason === 'DeploymentPaused') return undefined;
    return as('Unknown', 'DeploymentPaused', 'Deployment is paused');
  }
  if (current?.reason === 'DeploymentPaused') return as('Unknown', 'DeploymentResumed', 'Deployment is resumed');
  if (created === 'NewReplicaSetCreated') return as('True', created, `Created new replica set "${name ?? ''}"`);
  if (!isRollout) return undefined;
  const wasComplete = counts.replicas === counts.updatedReplicas && current?.reason === 'NewReplicaSetAvailable';
  if (wasComplete) return undefined;
  if (isComplete(deployment, counts)) {
    return as('True', 'NewReplicaSetAvailable', `${subject} has successfully progressed.`);
  }
  if (hasProgressed(before, counts)) return as('True', 'ReplicaSetUpdated', `${subject} is progressing.`, true);
  if (!current && created === 'FoundNewReplicaSet') return as('True', created, `Found new replica set "${name ?? ''}"`);
  if (isOverdue(deployment, current, now)) {
    return as('False', 'ProgressDeadlineExceeded', `${subject} has timed out progressing.`);
  }
  return undefined;
}

function hasProgressed(before: DeploymentStatus | undefined, now: DeploymentStatus): boolean {
  const old = (status: DeploymentStatus | undefined): number =>
    (status?.replicas ?? 0) - (status?.updatedReplicas ?? 0);
  return (
    (now.updatedReplicas ?? 0) > (before?.updatedReplicas ?? 0) ||
    old(now) < old(before) ||
    (now.readyReplicas ?? 0) > (before?.readyReplicas ?? 0) ||
    (now.availableReplicas ?? 0) > (before?.availableReplicas ?? 0)
  );
}

function isOverdue({ spec }: Deployment, current: DeploymentCondition | undefined, now: number): boolean {
  if (!current || current.reason === 'NewReplicaSetAvailable') return false;
  if (current.reason === 'ProgressDeadlineExceeded') return true;
  return parseTime(current.lastUpdateTime ?? '') + (spec?.progressDeadlineSeconds ?? 0) * 1_000 < now;
}

function condition(type: string, status: string, reason: string, message: string): ConditionUpdate {
  return { type, status, reason, message };
}

/** A condition with the same status and reason is not changed, unless `isRefreshed` is set. */
function setCondition(
  conditions: readonly DeploymentCondition[],
  wanted: ConditionUpdate,
  now: number,
  isRefreshed = false,
): readonly DeploymentCondition[] {
  const { type, status, reason, message } = wanted;
  const before = conditions.find((each) => each.type === type);
  if (before && before.status === status && before.reason === reason && !isRefreshed) return conditions;
  const at = formatTime(now);
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : at;
  return [
    ...conditions.filter((each) => each.type !== type),
    { type, status, reason, message, lastUpdateTime: at, lastTransitionTime },
  ];
}
