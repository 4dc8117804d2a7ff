import { Deployment, keyOf, keyString, Pod, parseKey, ReplicaSet } from '@bowline/kubernetes';
import { keyed, type ReconcileResult } from '@bowline/runtime';
import { claim, claimableBy, claimantsOf, claimIndex } from '../pods/claim.ts';
import { controllerOf, isFinished } from '../pods/pod-state.ts';
import { reportStatus } from '../pods/report-status.ts';
import type { WorkloadDeps } from '../pods/workload-events.ts';
import { scaleProportionally } from './proportional-scaling.ts';
import { ReplicaSets } from './replica-sets.ts';
import { DESIRED_REPLICAS, expiredReplicaSets, newReplicaSetOf } from './revisions.ts';
import { newReplicaSetSize, replicasOf, type Scaling, scaleDownOld } from './rolling-update.ts';
import { type DeploymentFacts, deploymentStatus, isComplete, untilDeadlineMs } from './status.ts';

// Keyed, because the status of a Deployment that is being deleted still counts its Pods.
const sources = keyed('deployments', { concurrency: 8 })
  .using<WorkloadDeps>()
  .watches(Deployment, { map: (deployment) => [keyString(keyOf(deployment))] })
  .watches(ReplicaSet, {
    indexes: { owner: claimIndex },
    map: (set, cache) =>
      claimantsOf(set, Deployment.kind, () => cache.list(Deployment, { namespace: set.metadata?.namespace })),
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
      return deployment && isRecreated(deployment) ? [keyString(keyOf(deployment))] : [];
    },
  });

type Context = Parameters<Parameters<(typeof sources)['reconcile']>[0]>[0];

/** deployments rolls the Pods of Deployments from one template to the next. */
export const deployments = sources.reconcile(reconcile);

async function reconcile(context: Context): Promise<ReconcileResult> {
  const { key, get, list, live, deps } = context;
  const deployment = get(Deployment, parseKey(key));
  if (!deployment) return undefined;
  const candidates = claimableBy(deployment).flatMap((owner) => list(ReplicaSet, { by: { owner } }));
  const sets = await claim(live, { resource: Deployment, object: deployment }, ReplicaSet, candidates);
  const found = newReplicaSetOf(deployment, sets);
  const old = sets.filter((set) => set !== found);
  if (deployment.metadata.deletionTimestamp !== undefined) {
    await report(context, { deployment, newest: found, old, isRollout: false });
    return undefined;
  }
  const writes = new ReplicaSets(live, deps.events, deployment);
  const newest = found && (await writes.syncMetadata(found, old));
  const rollout: Rollout = { context, writes, deployment, newest, old };
  const isScaling = sets.some((set) => isSizedForOther(set, replicasOf(deployment)));
  if (isScaling || deployment.spec?.paused) return scale(rollout, isScaling);
  return isRecreated(deployment) ? recreate(rollout) : rollOut(rollout);
}

/** Rollout is a Deployment with its ReplicaSets; `newest` is that of the current template, if it exists. */
interface Rollout {
  readonly context: Context;
  readonly writes: ReplicaSets;
  readonly deployment: Deployment;
  readonly newest: ReplicaSet | undefined;
  readonly old: readonly ReplicaSet[];
}

/** scale changes the size of a Deployment, and neither starts nor continues a rollout. */
async function scale(
  { context, writes, deployment, newest, old }: Rollout,
  isScaling: boolean,
): Promise<ReconcileResult> {
  await scaleAll(writes, scaleProportionally(deployment, newest, old));
  if (!isScaling) await prune(writes, deployment, old);
  const current = newest ? await writes.setRevision(deployment, newest) : deployment;
  const { requeueAfterMs } = await report(context, { deployment: current, newest, old, isRollout: false });
  return { requeueAfterMs };
}

/** recreate rolls out once the last Pod of the older templates has ended. */
async function recreate(rollout: Rollout): Promise<ReconcileResult> {
  const { context, writes, deployment, newest, old } = rollout;
  const scalings = old.filter((set) => replicasOf(set) > 0).map((set) => ({ set, replicas: 0 }));
  await scaleAll(writes, scalings);
  const hasPods = ({ metadata }: ReplicaSet): boolean =>
    context.list(Pod, { by: { owner: metadata?.uid ?? '' } }).some((pod) => !isFinished(pod));
  if (scalings.length === 0 && !old.some(hasPods)) return rollOut(rollout);
  const { requeueAfterMs } = await report(context, { deployment, newest, old, isRollout: true });
  return { requeueAfterMs };
}

/** rollOut replaces Pods of older templates with Pods of the current one, as far as the strategy allows now. */
async function rollOut({ context, writes, old, ...rollout }: Rollout): Promise<ReconcileResult> {
  const found = rollout.newest ?? (await writes.create(old));
  const deployment = await writes.setRevision(rollout.deployment, found);
  const size = newReplicaSetSize(deployment, [...old, found], replicasOf(found));
  const newest = await writes.scale({ set: found, replicas: Math.min(size, replicasOf(deployment)) });
  await scaleAll(writes, scaleDownOld(deployment, newest, old));
  const created = rollout.newest ? 'FoundNewReplicaSet' : 'NewReplicaSetCreated';
  const reported = await report(context, { deployment, newest, old, isRollout: true, created });
  if (isComplete(reported.deployment, reported.deployment.status)) await prune(writes, reported.deployment, old);
  return { requeueAfterMs: reported.requeueAfterMs };
}

/** report writes the status, and returns the Deployment with it and when a rollout exceeds its deadline. */
async function report(
  { get, live, clock }: Context,
  {
    deployment,
    newest,
    old,
    ...facts
  }: Pick<Rollout, 'deployment' | 'newest' | 'old'> & Pick<DeploymentFacts, 'isRollout' | 'created'>,
): Promise<{ readonly deployment: Deployment; readonly requeueAfterMs: number | undefined }> {
  // Own writes are visible at once: the ReplicaSets are those after the changes of this run.
  const current = (set: ReplicaSet): ReplicaSet | undefined => get(ReplicaSet, keyOf(set));
  const all = [...old, ...(newest ? [newest] : [])].flatMap((set) => current(set) ?? []);
  const status = deploymentStatus(deployment, { ...facts, newest: newest && current(newest), all, now: clock.now() });
  const reported = await reportStatus(live, Deployment, deployment, status);
  return { deployment: reported, requeueAfterMs: untilDeadlineMs(reported, clock.now()) };
}

async function scaleAll(writes: ReplicaSets, scalings: readonly Scaling[]): Promise<void> {
  for (const scaling of scalings) await writes.scale(scaling);
}

/** prune deletes the ReplicaSets beyond the history limit. */
async function prune(writes: ReplicaSets, deployment: Deployment, old: readonly ReplicaSet[]): Promise<void> {
  for (const set of expiredReplicaSets(deployment, old)) await writes.delete(set);
}

/** isSizedForOther reports whether a ReplicaSet was last sized when the Deployment had another number of replicas. */
function isSizedForOther(set: ReplicaSet, replicas: number): boolean {
  const desired = set.metadata?.annotations?.[DESIRED_REPLICAS];
  return replicasOf(set) > 0 && desired !== undefined && desired !== String(replicas);
}

function isRecreated({ spec }: Deployment): boolean {
  return spec?.strategy?.type === 'Recreate';
}
