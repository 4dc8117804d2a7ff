import type { Deployment, ReplicaSet } from '@bowline/kubernetes';
import { byAge } from '../pods/pod-state.ts';
import { DESIRED_REPLICAS, MAX_REPLICAS } from './revisions.ts';
import { availableOf, replicasOf, rolloutBounds, type Scaling, totalOf } from './rolling-update.ts';

/** scaleProportionally returns how a resized Deployment distributes the change over its ReplicaSets. */
export function scaleProportionally(
  deployment: Deployment,
  newest: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
): readonly Scaling[] {
  const wanted = replicasOf(deployment);
  const all = newest ? [newest, ...old] : old;
  const active = all.filter((set) => replicasOf(set) > 0);
  const only =
    active.length === 0 ? (newest ?? old.toSorted(byAge).at(-1)) : active.length === 1 ? active[0] : undefined;
  if (only) return replicasOf(only) === wanted ? [] : [{ set: only, replicas: wanted }];
  if (active.length === 0) return [];
  if (newest && isSaturated(newest, wanted)) {
    return old.filter((set) => replicasOf(set) > 0).map((set) => ({ set, replicas: 0 }));
  }
  if (deployment.spec?.strategy?.type === 'Recreate') return [];
  const most = wanted > 0 ? wanted + rolloutBounds(deployment).maxSurge : 0;
  let left = most - totalOf(active);
  // Growth goes to the largest and newest first; shrinking takes from the largest and oldest first.
  const isGrowing = left > 0;
  const order = active.toSorted((a, b) => replicasOf(b) - replicasOf(a) || (isGrowing ? byAge(b, a) : byAge(a, b)));
  const sizes = order.map((set) => {
    const share = left === 0 ? 0 : shareOf(set, deployment, most, left);
    left -= share;
    return { set, replicas: replicasOf(set) + share };
  });
  // The remainder of the rounding goes to the first.
  const [first, ...rest] = sizes;
  const rounded = first ? [{ ...first, replicas: Math.max(0, first.replicas + left) }, ...rest] : sizes;
  return rounded.filter(({ set, replicas }) => replicas !== replicasOf(set));
}

function shareOf(set: ReplicaSet, deployment: Deployment, most: number, left: number): number {
  const size = replicasOf(set);
  if (replicasOf(deployment) === 0) return -size;
  const before = Number(set.metadata?.annotations?.[MAX_REPLICAS] ?? '') || (deployment.status?.replicas ?? 0);
  const fraction = before === 0 ? 0 : Math.round((size * most) / before) - size;
  return left > 0 ? Math.min(Math.max(fraction, 0), left) : Math.max(Math.min(fraction, 0), left);
}

function isSaturated(set: ReplicaSet, wanted: number): boolean {
  const desired = Number(set.metadata?.annotations?.[DESIRED_REPLICAS] ?? Number.NaN);
  return replicasOf(set) === wanted && desired === wanted && availableOf([set]) === wanted;
}
