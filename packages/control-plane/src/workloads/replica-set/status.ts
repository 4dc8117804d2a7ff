import type { Pod, ReplicaSet, ReplicaSetStatus } from '@bowline/kubernetes';
import { labelSelector } from '@bowline/machinery';
import { withConditions } from '../../node-agent/conditions.ts';
import { isAvailable, isReady } from '../pods/pod-state.ts';

/** ReplicaSetFacts holds the state that a ReplicaSet's status is computed from. */
export interface ReplicaSetFacts {
  readonly active: readonly Pod[];
  readonly terminating: readonly Pod[];
  readonly now: number;
  readonly nowText: string;
  /** The failure to create or delete Pods, if any. */
  readonly failure?: { readonly reason: 'FailedCreate' | 'FailedDelete'; readonly message: string } | undefined;
}

/** replicaSetStatus returns the status that a ReplicaSet should have. */
export function replicaSetStatus(set: ReplicaSet, facts: ReplicaSetFacts): ReplicaSetStatus {
  const { active, terminating, now, nowText, failure } = facts;
  const template = labelSelector({ matchLabels: set.spec?.template?.metadata?.labels ?? {} });
  const others = (set.status?.conditions ?? []).filter(({ type }) => type !== 'ReplicaFailure');
  const conditions = failure
    ? withConditions(set.status?.conditions, [{ type: 'ReplicaFailure', status: 'True', ...failure }], nowText)
    : others;
  return {
    ...(conditions.length > 0 ? { conditions } : {}),
    replicas: active.length,
    fullyLabeledReplicas: active.filter(({ metadata }) => template.matches(metadata?.labels)).length,
    readyReplicas: active.filter(isReady).length,
    availableReplicas: active.filter((pod) => isAvailable(pod, set.spec?.minReadySeconds, now)).length,
    terminatingReplicas: terminating.length,
    observedGeneration: set.metadata?.generation,
  };
}
