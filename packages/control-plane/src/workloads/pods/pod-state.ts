import type { KubernetesObject, ObjectMeta, OwnerReference, Pod } from '@bowline/kubernetes';
import { parseTime } from '@bowline/machinery';

/** isFinished is whether a Pod will never run again. */
export function isFinished({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** isActive is whether a Pod counts as one of its workload's replicas. */
export function isActive(pod: Pod): boolean {
  return !isFinished(pod) && pod.metadata?.deletionTimestamp === undefined;
}

/** isTerminating is whether a Pod is on its way out and still there. */
export function isTerminating(pod: Pod): boolean {
  return !isFinished(pod) && pod.metadata?.deletionTimestamp !== undefined;
}

/** readyCondition is the condition Ready of a Pod. */
function readySince({ status }: Pod): string | undefined {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' ? (ready.lastTransitionTime ?? '') : undefined;
}

/** isReady is whether a Pod takes work. */
export function isReady(pod: Pod): boolean {
  return readySince(pod) !== undefined;
}

/** readyForMs is how long a Pod has been ready; undefined when it is not. */
export function readyForMs(pod: Pod, now: number): number | undefined {
  const since = readySince(pod);
  if (since === undefined) return undefined;
  return since === '' ? 0 : Math.max(0, now - parseTime(since));
}

/** isAvailable is whether a Pod has been ready for long enough. */
export function isAvailable(pod: Pod, minReadySeconds: number | undefined, now: number): boolean {
  const forMs = readyForMs(pod, now);
  return forMs !== undefined && (!minReadySeconds || forMs >= minReadySeconds * 1_000);
}

/** availableInMs is when the next of some Pods becomes available; undefined when none is about to. */
export function availableInMs(
  pods: readonly Pod[],
  minReadySeconds: number | undefined,
  now: number,
): number | undefined {
  if (!minReadySeconds) return undefined;
  const waits = pods.flatMap((pod) => {
    const forMs = readyForMs(pod, now);
    const left = forMs === undefined ? 0 : minReadySeconds * 1_000 - forMs;
    return left > 0 ? [left] : [];
  });
  return waits.length === 0 ? undefined : Math.min(...waits);
}

/** controllerOf is the reference to what controls an object. */
export function controllerOf({ metadata }: { readonly metadata?: ObjectMeta | undefined }): OwnerReference | undefined {
  return metadata?.ownerReferences?.find(({ controller }) => controller === true);
}

/** isControlledBy is whether an object is controlled by exactly this one. */
export function isControlledBy(object: KubernetesObject, owner: KubernetesObject): boolean {
  return controllerOf(object)?.uid === owner.metadata?.uid;
}

/** byAge orders objects from the oldest, and by name within a second. */
export function byAge(a: KubernetesObject, b: KubernetesObject): number {
  const [one, other] = [a, b].map(({ metadata }) => `${metadata?.creationTimestamp ?? ''} ${metadata?.name ?? ''}`);
  return (one ?? '') < (other ?? '') ? -1 : 1;
}
