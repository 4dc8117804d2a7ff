import type { Pod, StatefulSet } from '@bowline/kubernetes';
import { isAvailable, isFinished } from '../pods/pod-state.ts';
import { ordinalOf, revisionOf } from './identity.ts';

/** SetStep is a step for one ordinal of a StatefulSet. */
export type SetStep =
  | { readonly do: 'create'; readonly ordinal: number; readonly revision: 'current' | 'update' }
  | { readonly do: 'delete'; readonly pod: Pod; readonly why: 'failed' | 'surplus' | 'outdated' };

/** SetFacts holds the state that the next steps are computed from. */
export interface SetFacts {
  readonly pods: readonly Pod[];
  readonly updateRevision: string;
  readonly now: number;
}

/**
 * nextSteps returns the next steps for a StatefulSet. In order, an ordinal is changed only when all before it are
 * available, one at a time; in parallel, Pods are created and deleted independently, and only updates go one by one.
 */
export function nextSteps(set: StatefulSet, { pods, updateRevision, now }: SetFacts): readonly SetStep[] {
  const { spec } = set;
  const start = spec?.ordinals?.start ?? 0;
  const end = start + (spec?.replicas ?? 1);
  const isParallel = spec?.podManagementPolicy === 'Parallel';
  const strategy = spec?.updateStrategy;
  const partition = strategy?.type === 'OnDelete' ? 0 : (strategy?.rollingUpdate?.partition ?? 0);
  const places = new Map<number, Pod>();
  const surplus: { readonly ordinal: number; readonly pod: Pod }[] = [];
  for (const pod of pods) {
    const ordinal = ordinalOf(set, pod);
    if (ordinal === undefined) continue;
    if (ordinal >= start && ordinal < end) places.set(ordinal, pod);
    else surplus.push({ ordinal, pod });
  }
  const steps: SetStep[] = [];
  const isPodAvailable = (pod: Pod): boolean => !isTerminating(pod) && isAvailable(pod, spec?.minReadySeconds, now);

  for (let ordinal = start; ordinal < end; ordinal++) {
    const pod = places.get(ordinal);
    const step = stepFor(ordinal, pod, ordinal < start + partition ? 'current' : 'update');
    if (step) steps.push(step);
    if (!isParallel && (step || !pod || !isPodAvailable(pod))) return steps;
  }
  for (const { pod } of surplus.toSorted((a, b) => b.ordinal - a.ordinal)) {
    if (!isTerminating(pod)) steps.push({ do: 'delete', pod, why: 'surplus' });
    if (!isParallel) return steps;
  }
  if (strategy?.type === 'OnDelete' || steps.length > 0) return steps;
  for (let ordinal = end - 1; ordinal >= start + partition; ordinal--) {
    const pod = places.get(ordinal);
    if (!pod) return [];
    if (revisionOf(pod) !== updateRevision && !isTerminating(pod)) return [{ do: 'delete', pod, why: 'outdated' }];
    if (!isPodAvailable(pod)) return [];
  }
  return [];
}

function stepFor(ordinal: number, pod: Pod | undefined, revision: 'current' | 'update'): SetStep | undefined {
  if (!pod) return { do: 'create', ordinal, revision };
  return isFinished(pod) && !isTerminating(pod) ? { do: 'delete', pod, why: 'failed' } : undefined;
}

function isTerminating({ metadata }: Pod): boolean {
  return metadata?.deletionTimestamp !== undefined;
}
