import {
  Deployment,
  keyOf,
  keyString,
  Pod,
  PodDisruptionBudget,
  parseKey,
  ReplicaSet,
  StatefulSet,
} from '@bowline/kubernetes';
import { labelSelector } from '@bowline/machinery';
import { keyed } from '@bowline/runtime';
import type { Controller } from '@bowline/runtime/controller';
import { controllerOf } from '../pods/pod-state.ts';
import { reportStatus } from '../pods/report-status.ts';
import type { WorkloadDeps } from '../pods/workload-events.ts';
import { budgetStatus } from './budget-status.ts';

/** The interval of rechecks while evictions are pending: those that never happened are forgotten in time. */
const LOOK_AGAIN_MS = 30_000;

/** disruptionBudgets reports how many Pods of each budget may be evicted now. */
export function disruptionBudgets(): Controller<WorkloadDeps> {
  return (
    keyed('disruption-budgets')
      .using<WorkloadDeps>()
      .watches(PodDisruptionBudget, { map: (budget) => [keyString(keyOf(budget))] })
      .watches(Pod, {
        map: (pod, cache) =>
          cache
            .list(PodDisruptionBudget, { namespace: pod.metadata?.namespace })
            .filter((budget) => selects(budget, pod))
            .map((budget) => keyString(keyOf(budget))),
      })
      // Watched only for their sizes: the effect of a change is a change of Pods.
      .watches(ReplicaSet, { map: () => [] })
      .watches(Deployment, { map: () => [] })
      .watches(StatefulSet, { map: () => [] })
      .reconcile(async ({ key, get, list, live, clock, deps: { events } }) => {
        const budget = get(PodDisruptionBudget, parseKey(key));
        if (!budget) return;
        const { namespace } = budget.metadata ?? {};
        const pods = list(Pod, { namespace }).filter((pod) => selects(budget, pod));
        if (pods.length === 0) {
          const note = 'No matching pods found';
          events.record('controllermanager', PodDisruptionBudget, budget, { type: 'Normal', reason: 'NoPods', note });
        }
        const scales = new Map<string, number>();
        let single = 0;
        for (const pod of pods) {
          const owner = controllerOf(pod);
          if (!owner) {
            single++;
            continue;
          }
          const set = owner.kind === 'ReplicaSet' ? get(ReplicaSet, { namespace, name: owner.name }) : undefined;
          const above = set && controllerOf(set);
          const deployment =
            above?.kind === 'Deployment' ? get(Deployment, { namespace, name: above.name }) : undefined;
          const statefulSet =
            owner.kind === 'StatefulSet' ? get(StatefulSet, { namespace, name: owner.name }) : undefined;
          const workload = deployment ?? set ?? statefulSet;
          // Other workloads count by the number of their Pods.
          const uid = workload?.metadata?.uid ?? owner.uid;
          scales.set(uid, workload ? (workload.spec?.replicas ?? 1) : (scales.get(uid) ?? 0) + 1);
        }
        const scale = [...scales.values()].reduce((total, each) => total + each, single);
        const status = budgetStatus(budget, pods, scale, clock.now());
        await reportStatus(live, PodDisruptionBudget, budget, status);
        return status.disruptedPods ? { requeueAfterMs: LOOK_AGAIN_MS } : undefined;
      })
  );
}

function selects({ spec }: PodDisruptionBudget, { metadata }: Pod): boolean {
  return spec?.selector !== undefined && labelSelector(spec.selector).matches(metadata?.labels);
}
