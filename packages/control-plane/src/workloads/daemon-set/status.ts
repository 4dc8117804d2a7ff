import type { DaemonSet, DaemonSetStatus } from '@bowline/kubernetes';
import { byAge, isAvailable, isReady } from '../pods/pod-state.ts';
import { isUpdated, nodeOf, placementOn } from './daemon-pods.ts';
import type { DaemonFacts } from './next-steps.ts';

/** daemonSetStatus returns the status that a DaemonSet should have. */
export function daemonSetStatus(set: DaemonSet, { nodes, pods, hash, now }: DaemonFacts): DaemonSetStatus {
  const counts = { desired: 0, current: 0, misscheduled: 0, ready: 0, available: 0, updated: 0 };
  for (const node of nodes) {
    const here = pods
      .filter((pod) => nodeOf(pod) === node.metadata?.name)
      .toSorted((a, b) => {
        // If a node has several Pods, a ready one counts.
        return Number(isReady(b)) - Number(isReady(a)) || byAge(a, b);
      });
    const { shouldRun } = placementOn(set, node);
    const [first] = here;
    if (!shouldRun) {
      if (first) counts.misscheduled++;
      continue;
    }
    counts.desired++;
    if (!first) continue;
    counts.current++;
    if (isReady(first)) counts.ready++;
    if (isAvailable(first, set.spec?.minReadySeconds, now)) counts.available++;
    if (isUpdated(first, set, hash)) counts.updated++;
  }
  return {
    observedGeneration: set.metadata?.generation,
    desiredNumberScheduled: counts.desired,
    currentNumberScheduled: counts.current,
    numberMisscheduled: counts.misscheduled,
    numberReady: counts.ready,
    updatedNumberScheduled: counts.updated,
    numberAvailable: counts.available,
    numberUnavailable: counts.desired - counts.available,
    collisionCount: set.status?.collisionCount,
  };
}
