import { keyOf, keyString, Pod, parseKey, ReplicaSet } from '@bowline/kubernetes';
import { keyed, type ReconcileResult } from '@bowline/runtime';
import { claim, claimableBy, claimantsOf, claimIndex } from '../pods/claim.ts';
import { inDeletionOrder } from '../pods/deletion-order.ts';
import {
  BURST_REPLICAS,
  captureError,
  createPod,
  deletePod,
  inSlowStartBatches,
  type PodOwner,
  podFrom,
} from '../pods/pod-control.ts';
import { availableInMs, controllerOf, isActive } from '../pods/pod-state.ts';
import { reportStatus } from '../pods/report-status.ts';
import type { WorkloadDeps } from '../pods/workload-events.ts';
import { type ReplicaFailure, replicaSetStatus } from './status.ts';

// Keyed, because the status of a ReplicaSet that is being deleted still counts its Pods.
const sources = keyed('replica-sets', { concurrency: 8 })
  .using<WorkloadDeps>()
  .watches(ReplicaSet, {
    indexes: { owner: (set: ReplicaSet) => [controllerOf(set)?.uid ?? ''] },
    map: (set) => [keyString(keyOf(set))],
  })
  .watches(Pod, {
    indexes: { owner: claimIndex },
    map: (pod, cache) =>
      claimantsOf(pod, ReplicaSet.kind, () => cache.list(ReplicaSet, { namespace: pod.metadata?.namespace })),
  });

type Context = Parameters<Parameters<(typeof sources)['reconcile']>[0]>[0];

/** replicaSets keeps the requested number of Pods of each ReplicaSet. */
export const replicaSets = sources.reconcile(reconcile);

async function reconcile(context: Context): Promise<ReconcileResult> {
  const { key, get, list, live, clock } = context;
  const set = get(ReplicaSet, parseKey(key));
  if (!set) return undefined;
  const { uid } = set.metadata;
  const owned = list(Pod, { by: { owner: uid } });
  const candidates = claimableBy(set).flatMap((owner) => list(Pod, { by: { owner } }));
  const claimed = await claim(live, { resource: ReplicaSet, object: set }, Pod, candidates);
  const failure = await scale(context, set, claimed.filter(isActive));

  // Own writes are visible at once: Pods that were created or deleted above are counted.
  const selected = new Set(claimed.map(({ metadata }) => metadata?.uid));
  const unselected = new Set(owned.map(({ metadata }) => metadata.uid).filter((each) => !selected.has(each)));
  const pods = list(Pod, { by: { owner: uid } }).filter(({ metadata }) => !unselected.has(metadata.uid));
  const now = clock.now();
  const status = replicaSetStatus(set, { pods, now, failure });
  await reportStatus(live, ReplicaSet, get(ReplicaSet, parseKey(key)) ?? set, status);
  if (failure) throw failure.error;
  return { requeueAfterMs: availableInMs(pods.filter(isActive), set.spec?.minReadySeconds, now) };
}

/** scale creates missing Pods or deletes surplus ones, and returns why that failed. */
async function scale(context: Context, set: ReplicaSet, active: readonly Pod[]): Promise<ReplicaFailure | undefined> {
  const { live, deps } = context;
  const missing = (set.spec?.replicas ?? 1) - active.length;
  if (set.metadata?.deletionTimestamp !== undefined || missing === 0) return undefined;
  const owner: PodOwner = {
    controller: 'replicaset-controller',
    resource: ReplicaSet,
    object: set,
    events: deps.events,
  };
  const error = await captureError(async () => {
    if (missing > 0) {
      const pod = podFrom(set.spec?.template, owner);
      await inSlowStartBatches(Math.min(missing, BURST_REPLICAS), () => createPod(live, owner, pod));
    } else {
      const surplus = podsToDelete(context, set, active).slice(0, Math.min(-missing, BURST_REPLICAS));
      await Promise.all(surplus.map((pod) => deletePod(live, owner, pod)));
    }
  });
  return error && { reason: missing > 0 ? 'FailedCreate' : 'FailedDelete', error };
}

/** podsToDelete orders Pods, also by how many Pods of the same Deployment run on their nodes. */
function podsToDelete({ list, clock }: Context, set: ReplicaSet, active: readonly Pod[]): readonly Pod[] {
  const { uid: deployment = '' } = controllerOf(set) ?? {};
  const siblings = deployment === '' ? [set] : list(ReplicaSet, { by: { owner: deployment } });
  const related = siblings.flatMap(({ metadata }) => list(Pod, { by: { owner: metadata?.uid ?? '' } }));
  return inDeletionOrder(active, related.filter(isActive), clock.now());
}
