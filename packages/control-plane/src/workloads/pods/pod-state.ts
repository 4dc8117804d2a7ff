import type { KubernetesObject, ObjectMeta, OwnerReference, Pod } from '@bowline/kubernetes';
import { parseTime } from '@bowline/machinery';

/** isFinished reports whether a Pod will never run again. */
export function isFinished({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** isActive reports whether a Pod counts as one of its workload's replicas. */
export function isActive(pod: Pod): boolean {
  return !isFinished(pod) && pod.metadata?.deletionTimestamp === undefined;
}

/** isTerminating reports whether a Pod is being deleted and still runs. */
export function isTerminating(pod: Pod): boolean {
  return !isFinished(pod) && pod.metadata?.deletionTimestamp !== undefined;
}

/** readySince returns when a Pod became ready; undefined if it is not ready. */
function readySince({ status }: Pod): string | undefined {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' ? (ready.lastTransitionTime ?? '') : undefined;
}

/** isReady reports whether a Pod is ready. */
export function isReady(pod: Pod): boolean {
  return readySince(pod) !== undefined;
}

/** readyForMs returns how long a Pod has been ready; undefined if it is not. */
export function readyForMs(pod: Pod, now: number): number | undefined {
  const since = readySince(pod);
  if (since === undefined) return undefined;
  return since === '' ? 0 : Math.max(0, now - parseTime(since));
}

/** isAvailable reports whether a Pod has been ready for long enough. */
export function isAvailable(pod: Pod, minReadySeconds: number | undefined, now: number): boolean {
  const forMs = readyForMs(pod, now);
  return forMs !== undefined && (!minReadySeconds || forMs >= minReadySeconds * 1_000);
}

/** availableInMs returns how long until the next of some Pods becomes available; undefined if none is about to. */
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

/** controllerOf returns the owner reference to the controller of an object. */
export function controllerOf({ metadata }: { readonly metadata?: ObjectMeta | undefined }): OwnerReference | undefined {
  return metadata?.ownerReferences?.find(({ controller }) => controller === true);
}

/** isControlledBy reports whether exactly this owner controls an object. */
export function isControlledBy(object: KubernetesObject, owner: KubernetesObject): boolean {
  return controllerOf(object)?.uid === owner.metadata?.uid;
}

/** byAge orders objects from the oldest, and by name within the same second. */
export function byAge(a: KubernetesObject, b: KubernetesObject): number {
  const [one, other] = [a, b].map(({ metadata }) => `${metadata?.creationTimestamp ?? ''} ${metadata?.name ?? ''}`);
  return (one ?? '') < (other ?? '') ? -1 : 1;
}
