import type { Pod, PodDisruptionBudget, PodDisruptionBudgetStatus } from '@bowline/kubernetes';
import { formatTime, parseTime } from '@bowline/machinery';
import { withConditions } from '../../node-agent/conditions.ts';
import { resolveIntOrPercent } from '../pods/int-or-percent.ts';
import { isFinished, isReady } from '../pods/pod-state.ts';

/** An allowed eviction that has not begun after this long is not expected any more: its Pod counts again. */
const EVICTION_TIMEOUT_MS = 120_000;

/** budgetStatus computes how many Pods may be evicted now; `scale` is how many their workloads request together. */
export function budgetStatus(
  budget: PodDisruptionBudget,
  pods: readonly Pod[],
  scale: number,
  now: number,
): PodDisruptionBudgetStatus {
  const counting = pods.filter((pod) => !isFinished(pod));
  const disrupted = Object.entries(budget.status?.disruptedPods ?? {}).filter(([name, at]) => {
    const pod = pods.find(({ metadata }) => metadata?.name === name);
    return pod && pod.metadata?.deletionTimestamp === undefined && parseTime(at) + EVICTION_TIMEOUT_MS > now;
  });
  const isDisrupted = new Set(disrupted.map(([name]) => name));
  const healthy = counting.filter(
    (pod) =>
      isReady(pod) && pod.metadata?.deletionTimestamp === undefined && !isDisrupted.has(pod.metadata?.name ?? ''),
  ).length;
  const { maxUnavailable, minAvailable } = budget.spec ?? {};
  const expected = typeof minAvailable === 'number' ? counting.length : scale;
  const desired =
    maxUnavailable === undefined
      ? resolveIntOrPercent(minAvailable, expected, 'up')
      : Math.max(0, expected - resolveIntOrPercent(maxUnavailable, expected, 'up'));
  const allowed = expected > 0 ? Math.max(0, healthy - desired) : 0;
  const observedGeneration = budget.metadata?.generation;
  const isAllowed = allowed > 0;
  const condition = {
    type: 'DisruptionAllowed',
    status: isAllowed ? 'True' : 'False',
    reason: isAllowed ? 'SufficientPods' : 'InsufficientPods',
    message: '',
    observedGeneration,
  } as const;
  return {
    currentHealthy: healthy,
    desiredHealthy: desired,
    disruptionsAllowed: allowed,
    expectedPods: expected,
    observedGeneration,
    conditions: withConditions(budget.status?.conditions, [condition], formatTime(now)),
    ...(disrupted.length > 0 ? { disruptedPods: Object.fromEntries(disrupted) } : {}),
  };
}
