import type { Pod } from '@bowline/kubernetes';
import type { IgnitionSync } from '../api/ignition-sync.ts';
import { POD_ANNOTATIONS } from '../api/names.ts';

/** selectSync returns the IgnitionSync of a pod, or why there is none and what to do. */
export function selectSync({ metadata }: Pod, syncs: readonly IgnitionSync[]): IgnitionSync | string {
  const live = syncs.filter((sync) => sync.metadata?.deletionTimestamp === undefined);
  const wanted = metadata?.annotations?.[POD_ANNOTATIONS.crName];
  if (wanted) {
    const named = live.find((sync) => sync.metadata?.name === wanted);
    return (
      named ??
      `there is no IgnitionSync "${wanted}" in the namespace; create it or correct the annotation ${POD_ANNOTATIONS.crName}, then recreate the pod`
    );
  }
  const [first, ...others] = live;
  if (first === undefined) return 'there is no IgnitionSync in the namespace; create one, then recreate the pod';
  return others.length === 0
    ? first
    : `there are ${live.length} IgnitionSyncs in the namespace; name one in the annotation ${POD_ANNOTATIONS.crName} and recreate the pod`;
}
