import { type ObjectMeta, parseApiVersion } from '@bowline/kubernetes';

/**
 * Workload is the owner of pods: their top-level controller as far as names reveal it, or a pod without a controller.
 */
export interface Workload {
  /** Its API group; empty for a pod. */
  readonly group: string;
  readonly kind: string;
  readonly name: string;
  /** `Deployment.apps/shop`, `Pod/shop`: identifies a workload within its namespace, and names it in messages. */
  readonly id: string;
}

/** The label with the suffix that a Deployment appends to its own name to name a ReplicaSet. */
const POD_TEMPLATE_HASH = 'pod-template-hash';

/** The CronJob controller appends the scheduled minute since the epoch, which has had eight digits since 1989. */
const SCHEDULED = /^(.+)-\d{8,}$/;

/**
 * workloadOf returns the workload of a pod. ReplicaSets and Jobs are not workloads of their own if their names reveal
 * the controller that created them. Reading them to be certain would need permissions on both kinds and a watch of
 * each, only to tell apart two workloads of one namespace that were named like this on purpose.
 */
export function workloadOf(metadata: ObjectMeta): Workload {
  const { name = '', labels = {}, ownerReferences = [] } = metadata;
  const controller = ownerReferences.find((owner) => owner.controller === true);
  if (!controller) return workload('', 'Pod', name);
  const { group } = parseApiVersion(controller.apiVersion);
  if (group === 'apps' && controller.kind === 'ReplicaSet') {
    const suffix = `-${labels[POD_TEMPLATE_HASH] ?? ''}`;
    if (suffix.length > 1 && controller.name.endsWith(suffix)) {
      return workload(group, 'Deployment', controller.name.slice(0, -suffix.length));
    }
  }
  if (group === 'batch' && controller.kind === 'Job') {
    const cronJob = SCHEDULED.exec(controller.name)?.[1];
    if (cronJob !== undefined) return workload(group, 'CronJob', cronJob);
  }
  return workload(group, controller.kind, controller.name);
}

function workload(group: string, kind: string, name: string): Workload {
  return { group, kind, name, id: `${group === '' ? kind : `${kind}.${group}`}/${name}` };
}
