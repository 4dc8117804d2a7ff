import type { Pod, ReplicaSet, ReplicaSetStatus } from '@bowline/kubernetes';
import { formatTime, labelSelector } from '@bowline/machinery';
import { withConditions } from '../../node-agent/conditions.ts';
import { messageOf } from '../pods/pod-control.ts';
import { isActive, isAvailable, isReady, isTerminating } from '../pods/pod-state.ts';

/** ReplicaFailure is the failure to create or delete Pods. */
export interface ReplicaFailure {
  readonly reason: 'FailedCreate' | 'FailedDelete';
  readonly error: Error;
}

/** ReplicaSetFacts holds the state that a ReplicaSet's status is computed from. */
export interface ReplicaSetFacts {
  readonly pods: readonly Pod[];
  readonly now: number;
  readonly failure?: ReplicaFailure | undefined;
}

/** replicaSetStatus returns the status that a ReplicaSet should have. */
export function replicaSetStatus(set: ReplicaSet, { pods, now, failure }: ReplicaSetFacts): ReplicaSetStatus {
  const active = pods.filter(isActive);
  const template = labelSelector({ matchLabels: set.spec?.template?.metadata?.labels ?? {} });
  const conditions = conditionsOf(set, failure, now);
  return {
    ...(conditions.length > 0 ? { conditions } : {}),
    replicas: active.length,
    fullyLabeledReplicas: active.filter(({ metadata }) => template.matches(metadata?.labels)).length,
    readyReplicas: active.filter(isReady).length,
    availableReplicas: active.filter((pod) => isAvailable(pod, set.spec?.minReadySeconds, now)).length,
    terminatingReplicas: pods.filter(isTerminating).length,
    observedGeneration: set.metadata?.generation,
  };
}

function conditionsOf(
  { status }: ReplicaSet,
  failure: ReplicaFailure | undefined,
  now: number,
): NonNullable<ReplicaSetStatus['conditions']> {
  const type = 'ReplicaFailure';
  if (!failure) return (status?.conditions ?? []).filter((condition) => condition.type !== type);
  const { reason, error } = failure;
  const condition = { type, status: 'True', reason, message: messageOf(error) };
  return withConditions(status?.conditions, [condition], formatTime(now));
}
