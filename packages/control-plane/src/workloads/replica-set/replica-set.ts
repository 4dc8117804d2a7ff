import { keyOf, keyString, Pod, parseKey, ReplicaSet } from '@bowline/kubernetes';
import { formatTime } from '@bowline/machinery';
import { keyed } from '@bowline/runtime';
import type { Controller } from '@bowline/runtime/controller';
import { claim } from '../pods/claim.ts';
import { claimantsOf, claimIndex, orphansOf } from '../pods/claim-index.ts';
import {
  createPod,
  deletePod,
  failureOf,
  inGrowingBatches,
  MOST_AT_ONCE,
  messageOf,
  type PodOwner,
  podFrom,
} from '../pods/pod-control.ts';
import { availableInMs, controllerOf, isActive, isTerminating } from '../pods/pod-state.ts';
import { reportStatus } from '../pods/report-status.ts';
import type { WorkloadDeps } from '../pods/workload-events.ts';
import { inDeletionOrder } from './deletion-order.ts';
import { type ReplicaSetFacts, replicaSetStatus } from './status.ts';

/** replicaSets keeps the requested number of Pods of each ReplicaSet. */
export function replicaSets(): Controller<WorkloadDeps> {
  return keyed('replica-sets', { concurrency: 8 })
    .using<WorkloadDeps>()
    .watches(ReplicaSet, {
      indexes: { owner: (set: ReplicaSet) => [controllerOf(set)?.uid ?? ''] },
      map: (set) => [keyString(keyOf(set))],
    })
    .watches(Pod, {
      indexes: { owner: claimIndex },
      map: (pod, cache) =>
        claimantsOf(
          pod,
          'ReplicaSet',
          () => cache.list(ReplicaSet, { namespace: pod.metadata?.namespace }),
          ({ spec }) => spec?.selector,
        ),
    })
    .reconcile(async ({ key, get, list, live, clock, deps: { events } }) => {
      const set = get(ReplicaSet, parseKey(key));
      if (!set) return;
      const { namespace, uid = '', deletionTimestamp } = set.metadata ?? {};
      const owned = list(Pod, { by: { owner: uid } });
      const candidates = [...owned, ...list(Pod, { by: { owner: orphansOf(namespace) } })];
      const claimed = await claim(
        live,
        { resource: ReplicaSet, object: set, selector: set.spec?.selector },
        Pod,
        candidates,
      );
      const active = claimed.filter(isActive);

      const owner: PodOwner = { controller: 'replicaset-controller', resource: ReplicaSet, object: set, events };
      const wanted = set.spec?.replicas ?? 1;
      let failure: ReplicaSetFacts['failure'];
      let error: Error | undefined;
      if (deletionTimestamp === undefined && active.length !== wanted) {
        const isMore = active.length < wanted;
        error = await failureOf(async () => {
          if (isMore) {
            const missing = Math.min(wanted - active.length, MOST_AT_ONCE);
            await inGrowingBatches(missing, () => createPod(live, owner, podFrom(set.spec?.template, owner)));
          } else {
            const { uid: deployment = '' } = controllerOf(set) ?? {};
            const siblings = deployment === '' ? [set] : list(ReplicaSet, { by: { owner: deployment } });
            const related = siblings.flatMap(({ metadata }) => list(Pod, { by: { owner: metadata?.uid ?? '' } }));
            const order = inDeletionOrder(active, related.filter(isActive), clock.now());
            const surplus = order.slice(0, Math.min(active.length - wanted, MOST_AT_ONCE));
            await Promise.all(surplus.map((pod) => deletePod(live, owner, pod)));
          }
        });
        if (error) failure = { reason: isMore ? 'FailedCreate' : 'FailedDelete', message: messageOf(error) };
      }
      // Own writes are visible at once: Pods that were created or deleted above are counted.
      const selected = new Set(claimed.map(({ metadata }) => metadata?.uid));
      const before = new Set(owned.map(({ metadata }) => metadata?.uid));
      const pods = list(Pod, { by: { owner: uid } }).filter(
        ({ metadata }) => selected.has(metadata?.uid) || !before.has(metadata?.uid),
      );
      const now = clock.now();
      const facts = {
        active: pods.filter(isActive),
        terminating: pods.filter(isTerminating),
        now,
        nowText: formatTime(now),
        failure,
      };
      await reportStatus(live, ReplicaSet, get(ReplicaSet, parseKey(key)) ?? set, replicaSetStatus(set, facts));
      if (error) throw error;
      return { requeueAfterMs: availableInMs(facts.active, set.spec?.minReadySeconds, now) };
    });
}
