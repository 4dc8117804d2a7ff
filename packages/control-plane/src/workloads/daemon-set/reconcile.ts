import { ControllerRevision, DaemonSet, keyOf, Node, Pod } from '@bowline/kubernetes';
import { controller, type ReconcileResult } from '@bowline/runtime';
import { adoptersOf, claim, claimableBy, claimIndex } from '../pods/claim.ts';
import { currentRevision, expiredRevisions } from '../pods/controller-revisions.ts';
import {
  BURST_REPLICAS,
  captureError,
  createPod,
  deletePod,
  inSlowStartBatches,
  type PodOwner,
} from '../pods/pod-control.ts';
import { availableInMs, isFinished } from '../pods/pod-state.ts';
import { reportStatus } from '../pods/report-status.ts';
import type { WorkloadDeps } from '../pods/workload-events.ts';
import { daemonPod, HASH_LABEL } from './daemon-pods.ts';
import { type DaemonFacts, FAILED_POD_DELAY_MS, nextSteps } from './next-steps.ts';
import { daemonSetStatus } from './status.ts';

const sources = controller(DaemonSet, { name: 'daemon-sets', concurrency: 4 })
  .using<WorkloadDeps>()
  .owns(ControllerRevision, { remove: true, indexes: { owner: claimIndex } })
  .owns(Pod, { apply: false, indexes: { owner: claimIndex } })
  .watches(Pod, {
    as: 'orphans',
    map: (pod, cache) => adoptersOf(pod, () => cache.list(DaemonSet, { namespace: pod.metadata.namespace })),
  })
  .watches(Node, { map: (_, cache) => cache.list(DaemonSet).map(keyOf) });

type Context = Parameters<Parameters<(typeof sources)['reconcile']>[0]>[0];

/** daemonSets keeps one Pod of each DaemonSet on every node that it runs on. */
export const daemonSets = sources.reconcile(reconcile);

async function reconcile(context: Context): Promise<ReconcileResult> {
  const { object: set, list, live, clock } = context;
  if (!set.spec) return undefined;
  const revisions = await claimRevisions(context);
  const collisionCount = set.status?.collisionCount ?? 0;
  const found = await currentRevision(live, {
    resource: DaemonSet,
    object: set,
    template: set.spec.template,
    hashLabel: HASH_LABEL,
    collisionCount,
    revisions,
  });
  // Read last: a Pod that goes away between this and the status would be reported as missing before it is replaced.
  const pods = await claimPods(context);
  const nodes = list(Node);
  if ('collided' in found) {
    const status = daemonSetStatus(set, { nodes, pods, hash: '', now: clock.now() });
    await reportStatus(live, DaemonSet, set, { ...status, collisionCount: collisionCount + 1 });
    return { requeueAfterMs: 0 };
  }
  const hash = found.revision.metadata?.labels?.[HASH_LABEL] ?? '';
  const failure = await placePods(context, { nodes, pods, hash, now: clock.now() });

  const now = clock.now();
  const after = list(Pod, { by: { owner: set.metadata.uid } });
  await reportStatus(live, DaemonSet, set, daemonSetStatus(set, { nodes, pods: after, hash, now }));
  if (failure) throw failure;
  await prune(context, revisions, [hash, ...after.map(({ metadata }) => metadata.labels?.[HASH_LABEL])]);
  if (after.some(isFinished)) return { requeueAfterMs: FAILED_POD_DELAY_MS };
  return { requeueAfterMs: availableInMs(after, set.spec.minReadySeconds, now) };
}

async function claimPods({ object: set, list, live }: Context): Promise<readonly Pod[]> {
  const candidates = claimableBy(set).flatMap((owner) => list(Pod, { by: { owner } }));
  return claim(live, { resource: DaemonSet, object: set }, Pod, candidates);
}

async function claimRevisions({ object: set, list, live }: Context): Promise<readonly ControllerRevision[]> {
  const candidates = claimableBy(set).flatMap((owner) => list(ControllerRevision, { by: { owner } }));
  return claim(live, { resource: DaemonSet, object: set }, ControllerRevision, candidates);
}

/** placePods deletes Pods from nodes and creates them on others, and returns why that failed. */
async function placePods({ object: set, live, deps }: Context, facts: DaemonFacts): Promise<Error | undefined> {
  const owner: PodOwner = {
    controller: 'daemonset-controller',
    resource: DaemonSet,
    object: set,
    events: deps.events,
  };
  const { create, remove } = nextSteps(set, facts);
  return captureError(async () => {
    await Promise.all(remove.slice(0, BURST_REPLICAS).map((pod) => deletePod(live, owner, pod)));
    const nodes = create.slice(0, BURST_REPLICAS);
    await inSlowStartBatches(nodes.length, (index) =>
      createPod(live, owner, daemonPod(set, nodes[index] ?? '', facts.hash)),
    );
  });
}

/** prune removes the oldest unused revisions beyond the history limit. */
async function prune(
  { object: set, remove }: Context,
  revisions: readonly ControllerRevision[],
  usedHashes: readonly (string | undefined)[],
): Promise<void> {
  const unused = revisions.filter(({ metadata }) => !usedHashes.includes(metadata?.labels?.[HASH_LABEL]));
  const expired = expiredRevisions(unused, set.spec?.revisionHistoryLimit);
  for (const each of expired) await remove(ControllerRevision, keyOf(each));
}
