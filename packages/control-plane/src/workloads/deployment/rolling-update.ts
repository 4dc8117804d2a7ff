import type { Deployment, ReplicaSet } from '@bowline/kubernetes';
import { resolveIntOrPercent } from '../pods/int-or-percent.ts';
import { byAge } from '../pods/pod-state.ts';

/** RolloutBounds holds how many Pods above and below its size a Deployment may have during a rollout. */
export interface RolloutBounds {
  readonly maxSurge: number;
  readonly maxUnavailable: number;
}

/** Scaling holds the size that a ReplicaSet should get. */
export interface Scaling {
  readonly set: ReplicaSet;
  readonly replicas: number;
}

/** replicasOf returns how many Pods a ReplicaSet or Deployment requests. */
export function replicasOf({ spec }: Pick<ReplicaSet | Deployment, 'spec'>): number {
  return spec?.replicas ?? 1;
}

/** totalOf returns how many Pods some ReplicaSets request together. */
export function totalOf(sets: readonly ReplicaSet[]): number {
  return sets.reduce((total, set) => total + replicasOf(set), 0);
}

/** availableOf returns how many available Pods some ReplicaSets have. */
export function availableOf(sets: readonly ReplicaSet[]): number {
  return sets.reduce((total, { status }) => total + (status?.availableReplicas ?? 0), 0);
}

/**
 * rolloutBounds resolves the bounds of a rolling update. If both are zero nothing could roll, so one Pod may be unavailable.
 */
export function rolloutBounds(deployment: Deployment): RolloutBounds {
  const { strategy } = deployment.spec ?? {};
  if (strategy?.type === 'Recreate') return { maxSurge: 0, maxUnavailable: 0 };
  const total = replicasOf(deployment);
  const maxSurge = resolveIntOrPercent(strategy?.rollingUpdate?.maxSurge ?? '25%', total, 'up');
  const maxUnavailable = resolveIntOrPercent(strategy?.rollingUpdate?.maxUnavailable ?? '25%', total, 'down');
  if (maxSurge === 0 && maxUnavailable === 0) return { maxSurge, maxUnavailable: 1 };
  return { maxSurge, maxUnavailable: Math.min(maxUnavailable, total) };
}

/** newReplicaSetSize returns the size that the newest ReplicaSet may have now. */
export function newReplicaSetSize(deployment: Deployment, all: readonly ReplicaSet[], current: number): number {
  const wanted = replicasOf(deployment);
  if (deployment.spec?.strategy?.type === 'Recreate') return wanted;
  const most = wanted + rolloutBounds(deployment).maxSurge;
  const free = most - totalOf(all);
  return free <= 0 ? current : current + Math.min(free, wanted - current);
}

/** scaleDownOld returns the new sizes of the older ReplicaSets: unavailable Pods are removed first, then the rest. */
export function scaleDownOld(
  deployment: Deployment,
  newest: ReplicaSet,
  old: readonly ReplicaSet[],
): readonly Scaling[] {
  const least = replicasOf(deployment) - rolloutBounds(deployment).maxUnavailable;
  const missing = replicasOf(newest) - availableOf([newest]);
  const most = totalOf([...old, newest]) - least - missing;
  if (most <= 0) return [];
  const sizes = new Map(old.map((set) => [set, replicasOf(set)]));
  const shrink = (set: ReplicaSet, by: number): number => {
    const size = sizes.get(set) ?? 0;
    const less = Math.max(0, Math.min(size, by));
    sizes.set(set, size - less);
    return less;
  };
  const byAgeFirst = old.toSorted(byAge);
  let cleaned = 0;
  for (const set of byAgeFirst) {
    const unhealthy = replicasOf(set) - availableOf([set]);
    cleaned += shrink(set, Math.min(most - cleaned, unhealthy));
  }
  let spare = availableOf([...old, newest]) - least;
  for (const set of byAgeFirst) {
    if (spare <= 0) break;
    spare -= shrink(set, spare);
  }
  return [...sizes].filter(([set, size]) => size !== replicasOf(set)).map(([set, replicas]) => ({ set, replicas }));
}
