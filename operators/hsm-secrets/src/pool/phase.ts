import type { PodRow, PoolStatus } from '../api/hsm-pool.ts';

/** PhaseInput is what the phase of a pool follows from. */
export interface PhaseInput {
  /** Whether the HSMDevice exists and owns the pool, if anything does. */
  readonly hasDevice: boolean;
  readonly pods: readonly PodRow[];
  readonly expectedPods: number;
  readonly poolAgeMs: number;
  readonly gracePeriodMs: number;
}

/** phaseOf returns the phase of a pool: the first rule that applies decides. */
export function phaseOf(input: PhaseInput): NonNullable<PoolStatus['phase']> {
  const { hasDevice, pods, expectedPods, poolAgeMs, gracePeriodMs } = input;
  const fresh = pods.filter((pod) => pod.fresh);
  const completed = fresh.filter(({ discoveryStatus }) => discoveryStatus === 'completed');
  const isFailing = fresh.length > 0 && fresh.every(({ discoveryStatus }) => discoveryStatus === 'error');
  if (!hasDevice || isFailing) return 'Error';
  if (pods.length === 0) return 'Pending';
  if (expectedPods > 0 && completed.length >= expectedPods) return 'Ready';
  const isSound = pods.every(({ fresh: isFresh, discoveryStatus }) => isFresh && discoveryStatus !== 'error');
  const isSearching = pods.some(({ discoveryStatus }) => discoveryStatus === 'discovering');
  const isYoung = poolAgeMs < gracePeriodMs && pods.length < expectedPods;
  return isSound && (isSearching || isYoung) ? 'Aggregating' : 'Partial';
}
