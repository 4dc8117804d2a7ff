import type { PodCondition } from '@bowline/kubernetes';
import { formatTime } from '@bowline/machinery';
import type { Draft } from '../../../api-resource.ts';

/** setPodCondition sets a condition of a pod; the transition time is that of the last status change. */
export function setPodCondition(
  pod: Draft,
  now: number,
  condition: Pick<PodCondition, 'type' | 'status' | 'reason' | 'message'>,
): void {
  const status = { ...(pod.status as { conditions?: (PodCondition | Record<string, unknown>)[] } | undefined) };
  pod.status = status;
  const before = status.conditions?.find(({ type }) => type === condition.type);
  const isSame = before?.status === condition.status;
  const lastTransitionTime = isSame ? before.lastTransitionTime : formatTime(now);
  const next = { ...condition, lastProbeTime: null, lastTransitionTime };
  const others = (status.conditions ?? []).filter(({ type }) => type !== condition.type);
  status.conditions = before
    ? (status.conditions ?? []).map((each) => (each === before ? next : each))
    : [...others, next];
}
