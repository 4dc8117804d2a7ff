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
import { keyed, type ReconcileResult } from '@bowline/runtime';
import { controllerOf } from '../pods/pod-state.ts';
import { reportStatus } from '../pods/report-status.ts';
import type { WorkloadDeps } from '../pods/workload-events.ts';
import { budgetStatus } from './status.ts';

/** The interval of rechecks while evictions are pending: those that never happened are forgotten in time. */
const RECHECK_MS = 30_000;

// Keyed, because a budget that is being deleted still limits evictions by its status.
const sources = keyed('disruption-budgets')
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
  .watches(StatefulSet, { map: () => [] });

type Context = Parameters<Parameters<(typeof sources)['reconcile']>[0]>[0];

/** disruptionBudgets reports how many Pods of each budget may be evicted now. */
export const disruptionBudgets = sources.reconcile(reconcile);

async function reconcile(context: Context): Promise<ReconcileResult> {
  const { key, get, list, live, clock, deps } = context;
  const budget = get(PodDisruptionBudget, parseKey(key));
  if (!budget) return undefined;
  const pods = list(Pod, { namespace: budget.metadata.namespace }).filter((pod) => selects(budget, pod));
  if (pods.length === 0) {
    const note = 'No matching pods found';
    deps.events.record('controllermanager', PodDisruptionBudget, budget, { type: 'Normal', reason: 'NoPods', note });
  }
  const status = budgetStatus(budget, pods, scaleOf(context, pods), clock.now());
  await reportStatus(live, PodDisruptionBudget, budget, status);
  return status.disruptedPods ? { requeueAfterMs: RECHECK_MS } : undefined;
}

/** scaleOf returns how many Pods the workloads of some Pods request together. A Pod without a workload counts itself. */
function scaleOf(context: Context, pods: readonly Pod[]): number {
  const scales = new Map<string, number>();
  let uncontrolled = 0;
  for (const pod of pods) {
    const owner = controllerOf(pod);
    if (!owner) {
      uncontrolled++;
      continue;
    }
    const workload = workloadOf(context, pod);
    // Other workloads count by the number of their Pods.
    const uid = workload?.metadata.uid ?? owner.uid;
    scales.set(uid, workload ? (workload.spec?.replicas ?? 1) : (scales.get(uid) ?? 0) + 1);
  }
  return [...scales.values()].reduce((total, scale) => total + scale, uncontrolled);
}

/** workloadOf returns the workload of a Pod that has a size: of a ReplicaSet, its Deployment if it has one. */
function workloadOf({ get }: Context, pod: Pod) {
  const { namespace } = pod.metadata ?? {};
  const owner = controllerOf(pod);
  if (owner?.kind === StatefulSet.kind) return get(StatefulSet, { namespace, name: owner.name });
  const set = owner?.kind === ReplicaSet.kind ? get(ReplicaSet, { namespace, name: owner.name }) : undefined;
  const above = set && controllerOf(set);
  const deployment = above?.kind === Deployment.kind ? get(Deployment, { namespace, name: above.name }) : undefined;
  return deployment ?? set;
}

function selects({ spec }: PodDisruptionBudget, { metadata }: Pod): boolean {
  return spec?.selector !== undefined && labelSelector(spec.selector).matches(metadata?.labels);
}
