import {
  ControllerRevision,
  keyOf,
  keyString,
  PersistentVolumeClaim,
  Pod,
  parseKey,
  StatefulSet,
} from '@bowline/kubernetes';
import { keyed } from '@bowline/runtime';
import { isAlreadyExists, isNotFound } from '@bowline/runtime/client';
import type { Controller, LiveClient } from '@bowline/runtime/controller';
import { ownerReference } from '@bowline/runtime/writing';
import { claim } from '../pods/claim.ts';
import { claimantsOf, claimIndex, orphansOf } from '../pods/claim-index.ts';
import { currentRevision, pruneRevisions } from '../pods/controller-revisions.ts';
import { createPod, deletePod, failureOf, type PodOwner } from '../pods/pod-control.ts';
import { availableInMs } from '../pods/pod-state.ts';
import { reportStatus } from '../pods/report-status.ts';
import type { WorkloadDeps } from '../pods/workload-events.ts';
import { claimsAt, ordinalOf, podAt, revisionOf } from './identity.ts';
import { nextSteps } from './next-steps.ts';
import { statefulSetStatus } from './status.ts';

/** statefulSets keeps the Pods of StatefulSets in order, each with its name and its storage. */
export function statefulSets(): Controller<WorkloadDeps> {
  return keyed('stateful-sets', { concurrency: 4 })
    .using<WorkloadDeps>()
    .watches(StatefulSet, { map: (set) => [keyString(keyOf(set))] })
    .watches(ControllerRevision, { indexes: { owner: claimIndex }, map: () => [] })
    .watches(Pod, {
      indexes: { owner: claimIndex },
      map: (pod, cache) =>
        claimantsOf(
          pod,
          'StatefulSet',
          () => cache.list(StatefulSet, { namespace: pod.metadata?.namespace }),
          ({ spec }) => spec?.selector,
        ),
    })
    .reconcile(async ({ key, get, list, live, clock, deps: { events } }) => {
      const set = get(StatefulSet, parseKey(key));
      if (!set?.spec) return;
      const { namespace, uid = '', deletionTimestamp } = set.metadata ?? {};
      const orphans = list(Pod, { by: { owner: orphansOf(namespace) } }).filter(
        (pod) => ordinalOf(set, pod) !== undefined,
      );
      const candidates = [...list(Pod, { by: { owner: uid } }), ...orphans];
      const claimant = { resource: StatefulSet, object: set, selector: set.spec.selector };
      const pods = (await claim(live, claimant, Pod, candidates)).filter((pod) => ordinalOf(set, pod) !== undefined);
      if (deletionTimestamp !== undefined) return;

      const collisionCount = set.status?.collisionCount ?? 0;
      const kept = [uid, orphansOf(namespace)].flatMap((owner) => list(ControllerRevision, { by: { owner } }));
      const revisions = await claim(live, claimant, ControllerRevision, kept);
      const { template } = set.spec;
      const hashLabel = 'controller.kubernetes.io/hash';
      const found = await currentRevision(live, { ...claimant, template, hashLabel, collisionCount, revisions });
      if ('collided' in found) {
        await reportStatus(live, StatefulSet, set, { replicas: 0, ...set.status, collisionCount: collisionCount + 1 });
        return { requeueAfterMs: 0 };
      }
      const update = found.revision;
      const updateRevision = update.metadata?.name ?? '';
      const current = revisions.find(({ metadata }) => metadata?.name === set.status?.currentRevision) ?? update;

      const owner: PodOwner = {
        controller: 'statefulset-controller',
        resource: StatefulSet,
        object: set,
        events,
        tell: (verb, pod, error) =>
          `${verb} Pod ${pod} in StatefulSet ${set.metadata?.name} ${error === undefined ? 'successful' : `failed error: ${error}`}`,
      };
      const failure = await failureOf(async () => {
        for (const step of nextSteps(set, { pods, updateRevision, now: clock.now() })) {
          if (step.do === 'delete') {
            if (step.why === 'surplus') await handOverClaims(live, set, step.pod);
            await deletePod(live, owner, step.pod);
            continue;
          }
          await createClaims(live, set, step.ordinal);
          await createPod(live, owner, podAt(set, step.ordinal, step.revision === 'current' ? current : update));
        }
      });

      const now = clock.now();
      const after = list(Pod, { by: { owner: uid } }).filter((pod) => ordinalOf(set, pod) !== undefined);
      const facts = { pods: after, updateRevision, currentRevision: current.metadata?.name ?? '', collisionCount, now };
      const { status } = await reportStatus(live, StatefulSet, set, statefulSetStatus(set, facts));
      if (failure) throw failure;
      const used = new Set([status?.currentRevision, updateRevision, ...after.map(revisionOf)]);
      await pruneRevisions(live, revisions, ({ metadata }) => used.has(metadata?.name), set.spec.revisionHistoryLimit);
      return { requeueAfterMs: availableInMs(after, set.spec.minReadySeconds, now) };
    });
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
