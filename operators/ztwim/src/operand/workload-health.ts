import type { DaemonSet, Deployment, StatefulSet } from '@bowline/kubernetes';
import type { OperandCondition } from './condition.ts';

/** Workload is the workload of an operand, with its kind. */
export type Workload =
  | { readonly kind: 'StatefulSet'; readonly object: StatefulSet | undefined }
  | { readonly kind: 'DaemonSet'; readonly object: DaemonSet | undefined }
  | { readonly kind: 'Deployment'; readonly object: Deployment | undefined };

interface Counts {
  readonly desired: number;
  readonly updated: number;
  readonly ready: number;
  readonly isObserved: boolean;
}

/** workloadCondition returns the condition about a workload. A DaemonSet without nodes is healthy. */
export function workloadCondition(workload: Workload): OperandCondition {
  const { kind, object } = workload;
  const type = `${kind}Available`;
  const name = object?.metadata?.name;
  if (!object) {
    return { type, status: false, reason: `${kind}NotFound`, message: `the ${kind} does not exist yet` };
  }
  const { desired, updated, ready, isObserved } = countsOf(workload);
  if (isObserved && updated >= desired && ready >= desired) {
    return { type, status: true, reason: `${kind}Ready`, message: `${ready} of ${desired} pods of ${name} are ready` };
  }
  const message = `${ready} of ${desired} pods of the ${kind} ${name} are ready, and ${updated} are up to date; see kubectl describe pod`;
  return { type, status: false, reason: `${kind}NotReady`, message };
}

/** isRolledOut reports whether all pods of a workload have its current template and are ready. */
export function isRolledOut(workload: Workload): boolean {
  return workloadCondition(workload).status;
}

function countsOf(workload: Workload): Counts {
  const { metadata, status } = workload.object ?? {};
  const isObserved = (status?.observedGeneration ?? 0) >= (metadata?.generation ?? 0);
  if (workload.kind === 'DaemonSet') {
    const { desiredNumberScheduled = 0, updatedNumberScheduled = 0, numberReady = 0 } = workload.object?.status ?? {};
    return { desired: desiredNumberScheduled, updated: updatedNumberScheduled, ready: numberReady, isObserved };
  }
  const { spec, status: replicas } = workload.object ?? {};
  return {
    desired: spec?.replicas ?? 1,
    updated: replicas?.updatedReplicas ?? 0,
    ready: replicas?.readyReplicas ?? 0,
    isObserved,
  };
}
