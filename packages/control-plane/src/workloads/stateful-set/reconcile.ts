import { ControllerRevision, keyOf, PersistentVolumeClaim, Pod, StatefulSet } from '@bowline/kubernetes';
import { controller, type ReconcileResult } from '@bowline/runtime';
import { isAlreadyExists, isNotFound } from '@bowline/runtime/client';
import type { LiveClient } from '@bowline/runtime/controller';
import { ownerReference } from '@bowline/runtime/writing';
import { adoptersOf, claim, claimableBy, claimIndex } from '../pods/claim.ts';
import { currentRevision, expiredRevisions } from '../pods/controller-revisions.ts';
import { captureError, createPod, deletePod, type PodOwner } from '../pods/pod-control.ts';
import { availableInMs } from '../pods/pod-state.ts';
import { reportStatus } from '../pods/report-status.ts';
import type { WorkloadDeps } from '../pods/workload-events.ts';
import { claimsAt, ordinalOf, podAt, revisionOf } from './identity.ts';
import { nextSteps, type SetStep } from './next-steps.ts';
import { statefulSetStatus } from './status.ts';

const HASH_LABEL = 'controller.kubernetes.io/hash';

const sources = controller(StatefulSet, { name: 'stateful-sets', concurrency: 4 })
  .using<WorkloadDeps>()
  .owns(ControllerRevision, { remove: true, indexes: { owner: claimIndex } })
  .owns(Pod, { apply: false, indexes: { owner: claimIndex } })
  .watches(Pod, {
    as: 'orphans',
    map: (pod, cache) => adoptersOf(pod, () => cache.list(StatefulSet, { namespace: pod.metadata.namespace })),
  });

type Context = Parameters<Parameters<(typeof sources)['reconcile']>[0]>[0];

/** statefulSets keeps the Pods of StatefulSets in order, each with its name and its storage. */
export const statefulSets = sources.reconcile(reconcile);

async function reconcile(context: Context): Promise<ReconcileResult> {
  const { object: set, list, live, clock } = context;
  if (!set.spec) return undefined;
  const pods = await claimPods(context);
  const revisions = await claimRevisions(context);
  const collisionCount = set.status?.collisionCount ?? 0;
  const found = await currentRevision(live, {
    resource: StatefulSet,
    object: set,
    template: set.spec.template,
    hashLabel: HASH_LABEL,
    collisionCount,
    revisions,
  });
  if ('collided' in found) {
    await reportStatus(live, StatefulSet, set, { replicas: 0, ...set.status, collisionCount: collisionCount + 1 });
    return { requeueAfterMs: 0 };
  }
  const { revision: update } = found;
  const updateRevision = update.metadata?.name ?? '';
  const current = revisions.find(({ metadata }) => metadata?.name === set.status?.currentRevision) ?? update;
  const failure = await captureError(async () => {
    const steps = nextSteps(set, { pods, updateRevision, now: clock.now() });
    for (const step of steps) await take(context, step, { current, update });
  });

  const now = clock.now();
  const after = list(Pod, { by: { owner: set.metadata.uid } }).filter((pod) => ordinalOf(set, pod) !== undefined);
  const facts = { pods: after, updateRevision, currentRevision: current.metadata?.name ?? '', collisionCount, now };
  const { status } = await reportStatus(live, StatefulSet, set, statefulSetStatus(set, facts));
  if (failure) throw failure;
  await prune(context, revisions, [status?.currentRevision, updateRevision, ...after.map(revisionOf)]);
  return { requeueAfterMs: availableInMs(after, set.spec.minReadySeconds, now) };
}

/** claimPods returns the Pods of the set; a Pod whose name is not one of the set's is not adopted. */
async function claimPods({ object: set, list, live }: Context): Promise<readonly Pod[]> {
  const [own = '', orphans = ''] = claimableBy(set);
  const adoptable = list(Pod, { by: { owner: orphans } }).filter((pod) => ordinalOf(set, pod) !== undefined);
  const candidates = [...list(Pod, { by: { owner: own } }), ...adoptable];
  const claimed = await claim(live, { resource: StatefulSet, object: set }, Pod, candidates);
  return claimed.filter((pod) => ordinalOf(set, pod) !== undefined);
}

async function claimRevisions({ object: set, list, live }: Context): Promise<readonly ControllerRevision[]> {
  const candidates = claimableBy(set).flatMap((owner) => list(ControllerRevision, { by: { owner } }));
  return claim(live, { resource: StatefulSet, object: set }, ControllerRevision, candidates);
}

/** take creates or deletes the Pod of one ordinal. */
async function take(
  { object: set, live, deps }: Context,
  step: SetStep,
  revisions: Readonly<Record<'current' | 'update', ControllerRevision>>,
): Promise<void> {
  const owner: PodOwner = {
    controller: 'statefulset-controller',
    resource: StatefulSet,
    object: set,
    events: deps.events,
    noteOf: (verb, pod, error) =>
      `${verb} Pod ${pod} in StatefulSet ${set.metadata.name} ${error === undefined ? 'successful' : `failed error: ${error}`}`,
  };
  if (step.do === 'delete') {
    if (step.why === 'surplus') await handOverClaims(live, set, step.pod);
    await deletePod(live, owner, step.pod);
    return;
  }
  await createClaims(live, set, step.ordinal);
  await createPod(live, owner, podAt(set, step.ordinal, revisions[step.revision]));
}

async function createClaims(live: LiveClient, set: StatefulSet, ordinal: number): Promise<void> {
  for (const { claim: wanted } of claimsAt(set, ordinal)) {
    await live.create(PersistentVolumeClaim, wanted).catch((error: unknown) => {
      // The claim outlived an earlier Pod of this ordinal.
      if (!isAlreadyExists(error)) throw error;
    });
  }
}

/**
 * handOverClaims makes the Pod of a removed ordinal the owner of its claims, so that they are deleted with it, if the
 * set configures that.
 */
async function handOverClaims(live: LiveClient, set: StatefulSet, pod: Pod): Promise<void> {
  const ordinal = ordinalOf(set, pod);
  if (set.spec?.persistentVolumeClaimRetentionPolicy?.whenScaled !== 'Delete' || ordinal === undefined) return;
  const body = { metadata: { ownerReferences: [ownerReference({ resource: Pod, object: pod })] } };
  for (const { claim: given } of claimsAt(set, ordinal)) {
    await live.patch(PersistentVolumeClaim, keyOf(given), { type: 'merge', body }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }
}

/** prune removes the oldest unused revisions beyond the history limit. */
async function prune(
  { object: set, remove }: Context,
  revisions: readonly ControllerRevision[],
  used: readonly (string | undefined)[],
): Promise<void> {
  const unused = revisions.filter(({ metadata }) => !used.includes(metadata?.name));
  const expired = expiredRevisions(unused, set.spec?.revisionHistoryLimit);
  for (const each of expired) await remove(ControllerRevision, keyOf(each));
}
