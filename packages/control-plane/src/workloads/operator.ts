import {
  ConfigMap,
  DaemonSet,
  Deployment,
  EndpointSlice,
  Job,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  type Resource,
  ServiceAccount,
  StatefulSet,
} from '@bowline/kubernetes';
import { Event } from '@bowline/kubernetes/events-v1';
import { allow, defineOperator, type Operator, type Permission } from '@bowline/runtime';
import type { Controller } from '@bowline/runtime/controller';
import { daemonSets } from './daemon-set/reconcile.ts';
import { deployments } from './deployment/reconcile.ts';
import { disruptionBudgets } from './disruption/reconcile.ts';
import { endpointSlices } from './endpoint-slice/reconcile.ts';
import { ephemeralVolumes } from './ephemeral-volumes/reconcile.ts';
import { jobs } from './job/reconcile.ts';
import { MetadataControllers, type MetadataControllersOptions } from './metadata-controllers.ts';
import { defaultAccounts, rootCertificates } from './namespace-defaults/reconcile.ts';
import { nodeTaints } from './node-taints/reconcile.ts';
import { type WorkloadDeps, WorkloadEvents } from './pods/workload-events.ts';
import { pvProtection } from './pv-protection/reconcile.ts';
import { pvcProtection } from './pvc-protection/reconcile.ts';
import { replicaSets } from './replica-set/reconcile.ts';
import { scheduler } from './scheduler/reconcile.ts';
import { statefulSets } from './stateful-set/reconcile.ts';
import { volumeBinder } from './volume-binder/reconcile.ts';

/** How many events in a row a controller may send about one object: the same number as in Kubernetes. */
const EVENT_BURST = 25;

/** WorkloadParts configures which controllers run, and with which dependencies. */
export interface WorkloadParts extends MetadataControllersOptions {
  readonly rootCertificate: string | undefined;
  readonly workloads: boolean;
  readonly scheduler: boolean;
}

/** workloadsOperator returns the operator with the controllers of a control plane. */
export function workloadsOperator(parts: WorkloadParts): Operator {
  const { client, clock, random, log } = parts;
  const controllers: Controller<WorkloadDeps>[] = [defaultAccounts];
  const permissions: Permission[] = [allow(['create'], ServiceAccount), allow(['create', 'patch'], Event)];
  if (parts.rootCertificate !== undefined) {
    controllers.push(rootCertificates(parts.rootCertificate));
    permissions.push(allow(['create', 'update'], ConfigMap));
  }
  if (parts.workloads) {
    controllers.push(nodeTaints, replicaSets, deployments, statefulSets, daemonSets, jobs);
    controllers.push(endpointSlices, disruptionBudgets);
    controllers.push(volumeBinder, pvcProtection, pvProtection, ephemeralVolumes);
    permissions.push(...workloadPermissions());
  }
  if (parts.scheduler) {
    controllers.push(scheduler());
    permissions.push(
      allow(['create'], Pod, { subresource: 'binding' }),
      allow(['patch'], Pod, { subresource: 'status' }),
      allow(['patch'], PersistentVolume),
      allow(['patch'], PersistentVolumeClaim),
    );
  }
  return defineOperator({
    name: 'workloads',
    // Its own domain, so that `bowline.dev/paused` on a workload means nothing to the controllers of the cluster.
    domain: 'workloads.bowline.dev',
    setup: ({ client: restricted }): WorkloadDeps => ({
      events: new WorkloadEvents({ client: restricted, instance: 'bowline', clock, random, log, burst: EVENT_BURST }),
    }),
    controllers,
    services: [
      { name: 'events', run: (signal, { events }) => events.run(signal) },
      // The kinds to collect are not known beforehand, so neither are the permissions.
      { name: 'metadata-controllers', run: (signal) => new MetadataControllers({ ...parts, client }).run(signal) },
    ],
    permissions,
  });
}

function workloadPermissions(): readonly Permission[] {
  const onStatus = (kind: Resource): Permission => allow(['patch'], kind, { subresource: 'status' });
  const makes = ['create', 'patch', 'delete'];
  return [
    allow(['patch'], Node),
    allow(makes, Pod),
    allow(makes, ReplicaSet),
    allow(['patch'], Deployment),
    allow(['delete'], Job),
    allow(['get', 'create', 'patch'], PersistentVolumeClaim),
    allow(['patch', 'delete'], PersistentVolume),
    allow(['create', 'update', 'delete'], EndpointSlice),
    ...[ReplicaSet, Deployment, StatefulSet, DaemonSet, Job, PodDisruptionBudget].map(onStatus),
    ...[PersistentVolume, PersistentVolumeClaim].map(onStatus),
  ];
}
