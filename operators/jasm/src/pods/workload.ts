import { type ObjectMeta, parseApiVersion } from '@bowline/kubernetes';

/** Workload is what stands behind pods: their top-level controller as far as names tell, or a pod that nobody controls. */
export interface Workload {
  /** Its API group; empty for a pod. */
  readonly group: string;
  readonly kind: string;
  readonly name: string;
  /** `Deployment.apps/shop`, `Pod/shop`: tells workloads of a namespace apart, and names them in messages. */
  readonly id: string;
}

/** Who makes the pods of others: their names are the maker's and something after it. */
const POD_TEMPLATE_HASH = 'pod-template-hash';

/** The CronJob controller appends the scheduled minute since the epoch, which has had eight digits since 1989. */
const SCHEDULED = /^(.+)-\d{8,}$/;

/**
 * workloadOf is the workload of a pod. ReplicaSets and Jobs are no workloads of their own where their names say who made them:
 * reading them, to be sure, would need rights on both kinds and a watch of each, for two workloads at most that somebody named
 * like that on purpose, in one namespace.
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
