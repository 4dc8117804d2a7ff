import type { Pod, StatefulSet, StatefulSetStatus } from '@bowline/kubernetes';
import { isAvailable, isReady } from '../pods/pod-state.ts';
import { revisionOf } from './identity.ts';

/** StatefulSetFacts holds the state that a StatefulSet's status is computed from. */
export interface StatefulSetFacts {
  readonly pods: readonly Pod[];
  readonly currentRevision: string;
  readonly updateRevision: string;
  readonly collisionCount: number;
  readonly now: number;
}

/** statefulSetStatus returns the status that a StatefulSet should have. */
export function statefulSetStatus(set: StatefulSet, facts: StatefulSetFacts): StatefulSetStatus {
  const { pods, currentRevision, updateRevision, collisionCount, now } = facts;
  const staying = pods.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
  const count = (revision: string): number => staying.filter((pod) => revisionOf(pod) === revision).length;
  const wanted = set.spec?.replicas ?? 1;
  const counts = {
    observedGeneration: set.metadata?.generation,
    replicas: pods.length,
    readyReplicas: pods.filter(isReady).length,
    availableReplicas: pods.filter((pod) => isAvailable(pod, set.spec?.minReadySeconds, now)).length,
    updatedReplicas: count(updateRevision),
    collisionCount,
    updateRevision,
  };
  // Once every Pod has the new revision and is ready, a lost Pod is recreated from that revision.
  const isUpdated =
    set.spec?.updateStrategy?.type !== 'OnDelete' &&
    counts.updatedReplicas === wanted &&
    counts.replicas === wanted &&
    counts.readyReplicas === wanted;
  return isUpdated
    ? { ...counts, currentRevision: updateRevision, currentReplicas: counts.updatedReplicas }
    : { ...counts, currentRevision, currentReplicas: count(currentRevision) };
}
