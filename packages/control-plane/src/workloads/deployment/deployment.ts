import { Deployment, keyOf, keyString, Pod, parseKey, ReplicaSet } from '@bowline/kubernetes';
import { keyed } from '@bowline/runtime';
import type { Controller } from '@bowline/runtime/controller';
import { claim } from '../pods/claim.ts';
import { claimantsOf, claimIndex, orphansOf } from '../pods/claim-index.ts';
import { controllerOf, isFinished } from '../pods/pod-state.ts';
import { reportStatus } from '../pods/report-status.ts';
import type { WorkloadDeps } from '../pods/workload-events.ts';
import { scaleProportionally } from './proportional.ts';
import { ReplicaSetWrites } from './replica-set-writes.ts';
import { DESIRED, newestOf, surplusOf } from './revisions.ts';
import { replicasOf, type Scaling, shrinkOld, sizeOfNew } from './rolling.ts';
import { type DeploymentFacts, deploymentStatus, isComplete, untilDeadlineMs } from './status.ts';

/** deployments rolls the Pods of Deployments from one template to the next. */
export function deployments(): Controller<WorkloadDeps> {
  return (
    keyed('deployments', { concurrency: 8 })
      .using<WorkloadDeps>()
      .watches(Deployment, { map: (deployment) => [keyString(keyOf(deployment))] })
      .watches(ReplicaSet, {
        indexes: { owner: claimIndex },
        map: (set, cache) =>
          claimantsOf(
            set,
            'Deployment',
            () => cache.list(Deployment, { namespace: set.metadata?.namespace }),
            ({ spec }) => spec?.selector,
          ),
      })
      // Recreate waits for the end of the last Pod; a ReplicaSet stops counting it earlier.
      .watches(Pod, {
        indexes: { owner: claimIndex },
        map: (pod, { get }) => {
          const { namespace } = pod.metadata ?? {};
          const setName = controllerOf(pod)?.name;
          const set = setName === undefined ? undefined : get(ReplicaSet, { namespace, name: setName });
          const name = set && controllerOf(set)?.name;
          const deployment = name === undefined ? undefined : get(Deployment, { namespace, name });
          return deployment?.spec?.strategy?.type === 'Recreate' ? [keyString(keyOf(deployment))] : [];
        },
      })
      .reconcile(async ({ key, get, list, live, clock, deps: { events } }) => {
        const found = get(Deployment, parseKey(key));
        if (!found) return;
        let deployment: Deployment = found;
        const { namespace, uid = '', deletionTimestamp } = deployment.metadata ?? {};
        const candidates = [
          ...list(ReplicaSet, { by: { owner: uid } }),
          ...list(ReplicaSet, { by: { owner: orphansOf(namespace) } }),
        ];
        const claimant = { resource: Deployment, object: deployment, selector: deployment.spec?.selector };
        const sets = await claim(live, claimant, ReplicaSet, candidates);
        let newest = newestOf(deployment, sets);
        const old = sets.filter((set) => set !== newest);
        const writes = new ReplicaSetWrites(live, events, deployment);
        const report = async (
          isRollout: boolean,
          created?: DeploymentFacts['created'],
        ): Promise<number | undefined> => {
          const current = ({ metadata }: { readonly metadata?: ReplicaSet['metadata'] }): ReplicaSet | undefined =>
            get(ReplicaSet, { namespace, name: metadata?.name ?? '' });
          const all = [...old, ...(newest ? [newest] : [])].flatMap((set) => current(set) ?? []);
          const facts = { newest: newest && current(newest), all, now: clock.now(), isRollout, created };
          deployment = await reportStatus(live, Deployment, deployment, deploymentStatus(deployment, facts));
          return untilDeadlineMs(deployment, clock.now());
        };

        if (deletionTimestamp !== undefined) {
          await report(false);
          return;
        }
        if (newest) newest = await writes.keepUp(newest, old);
        const isResized = sets.some(({ metadata, spec }) => {
          const desired = metadata?.annotations?.[DESIRED];
          return (spec?.replicas ?? 1) > 0 && desired !== undefined && desired !== String(replicasOf(deployment));
        });
        if (deployment.spec?.paused || isResized) {
          await scaleAll(writes, scaleProportionally(deployment, newest, old));
          if (!isResized) await prune(writes, deployment, old);
          if (newest) deployment = await writes.number(deployment, newest);
          return { requeueAfterMs: await report(false) };
        }

        let created: DeploymentFacts['created'] = newest ? 'FoundNewReplicaSet' : undefined;
        if (deployment.spec?.strategy?.type === 'Recreate') {
          const shrinking = old.filter((set) => replicasOf(set) > 0).map((set) => ({ set, replicas: 0 }));
          await scaleAll(writes, shrinking);
          const runs = ({ metadata }: ReplicaSet): boolean =>
            list(Pod, { by: { owner: metadata?.uid ?? '' } }).some((pod) => !isFinished(pod));
          if (shrinking.length > 0 || old.some(runs)) return { requeueAfterMs: await report(true) };
        }
        if (!newest) {
          newest = await writes.create(old);
          created = 'NewReplicaSetCreated';
        }
        deployment = await writes.number(deployment, newest);
        const size =
          replicasOf(newest) > replicasOf(deployment)
            ? replicasOf(deployment)
            : sizeOfNew(deployment, [...old, newest], replicasOf(newest));
        newest = await writes.scale({ set: newest, replicas: size });
        await scaleAll(writes, shrinkOld(deployment, newest, old));
        const requeueAfterMs = await report(true, created);
        if (isComplete(deployment, deployment.status)) await prune(writes, deployment, old);
        return { requeueAfterMs };
      })
  );
}

async function scaleAll(writes: ReplicaSetWrites, scalings: readonly Scaling[]): Promise<void> {
  for (const scaling of scalings) await writes.scale(scaling);
}

async function prune(writes: ReplicaSetWrites, deployment: Deployment, old: readonly ReplicaSet[]): Promise<void> {
  for (const set of surplusOf(deployment, old)) await writes.remove(set);
}
