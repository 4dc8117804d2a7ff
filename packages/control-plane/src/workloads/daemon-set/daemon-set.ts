import { ControllerRevision, DaemonSet, keyOf, keyString, Node, Pod, parseKey } from '@bowline/kubernetes';
import { keyed } from '@bowline/runtime';
import type { Controller } from '@bowline/runtime/controller';
import { claim } from '../pods/claim.ts';
import { claimantsOf, claimIndex, orphansOf } from '../pods/claim-index.ts';
import { currentRevision, pruneRevisions } from '../pods/controller-revisions.ts';
import { createPod, deletePod, failureOf, inGrowingBatches, MOST_AT_ONCE, type PodOwner } from '../pods/pod-control.ts';
import { availableInMs, isFinished } from '../pods/pod-state.ts';
import { reportStatus } from '../pods/report-status.ts';
import type { WorkloadDeps } from '../pods/workload-events.ts';
import { daemonPod, HASH_LABEL } from './daemon-pods.ts';
import { FAILED_STAYS_MS, nextSteps } from './next-steps.ts';
import { daemonSetStatus } from './status.ts';

/** daemonSets keeps one Pod of each DaemonSet on every node that it runs on. */
export function daemonSets(): Controller<WorkloadDeps> {
  return keyed('daemon-sets', { concurrency: 4 })
    .using<WorkloadDeps>()
    .watches(DaemonSet, { map: (set) => [keyString(keyOf(set))] })
    .watches(ControllerRevision, { indexes: { owner: claimIndex }, map: () => [] })
    .watches(Node, { map: (_, cache) => cache.list(DaemonSet).map((set) => keyString(keyOf(set))) })
    .watches(Pod, {
      indexes: { owner: claimIndex },
      map: (pod, cache) =>
        claimantsOf(
          pod,
          'DaemonSet',
          () => cache.list(DaemonSet, { namespace: pod.metadata?.namespace }),
          ({ spec }) => spec?.selector,
        ),
    })
    .reconcile(async ({ key, get, list, live, clock, deps: { events } }) => {
      const set = get(DaemonSet, parseKey(key));
      if (!set?.spec) return;
      const { namespace, uid = '', deletionTimestamp } = set.metadata ?? {};
      const candidates = [...list(Pod, { by: { owner: uid } }), ...list(Pod, { by: { owner: orphansOf(namespace) } })];
      const claimant = { resource: DaemonSet, object: set, selector: set.spec.selector };
      const pods = await claim(live, claimant, Pod, candidates);
      if (deletionTimestamp !== undefined) return;

      const collisionCount = set.status?.collisionCount ?? 0;
      const kept = [uid, orphansOf(namespace)].flatMap((owner) => list(ControllerRevision, { by: { owner } }));
      const revisions = await claim(live, claimant, ControllerRevision, kept);
      const { template } = set.spec;
      const found = await currentRevision(live, {
        ...claimant,
        template,
        hashLabel: HASH_LABEL,
        collisionCount,
        revisions,
      });
      const nodes = list(Node);
      if ('collided' in found) {
        const facts = { nodes, pods, hash: '', now: clock.now() };
        await reportStatus(live, DaemonSet, set, {
          ...daemonSetStatus(set, facts),
          collisionCount: collisionCount + 1,
        });
        return { requeueAfterMs: 0 };
      }
      const hash = found.revision.metadata?.labels?.[HASH_LABEL] ?? '';
      const owner: PodOwner = { controller: 'daemonset-controller', resource: DaemonSet, object: set, events };
      const { create, remove } = nextSteps(set, { nodes, pods, hash, now: clock.now() });
      const failure = await failureOf(async () => {
        await Promise.all(remove.slice(0, MOST_AT_ONCE).map((pod) => deletePod(live, owner, pod)));
        const places = create.slice(0, MOST_AT_ONCE);
        await inGrowingBatches(places.length, (index) =>
          createPod(live, owner, daemonPod(set, places[index] ?? '', hash)),
        );
      });

      const now = clock.now();
      const after = list(Pod, { by: { owner: uid } });
      await reportStatus(live, DaemonSet, set, daemonSetStatus(set, { nodes, pods: after, hash, now }));
      if (failure) throw failure;
      const used = new Set([hash, ...after.map(({ metadata }) => metadata?.labels?.[HASH_LABEL])]);
      const isUsed = ({ metadata }: ControllerRevision): boolean => used.has(metadata?.labels?.[HASH_LABEL]);
      await pruneRevisions(live, revisions, isUsed, set.spec.revisionHistoryLimit);
      if (after.some(isFinished)) return { requeueAfterMs: FAILED_STAYS_MS };
      return { requeueAfterMs: availableInMs(after, set.spec.minReadySeconds, now) };
    });
}
