import { ConfigMap, Deployment, Namespace, Node, Pod, ReplicaSet, ServiceAccount } from '@bowline/kubernetes';
import { Event } from '@bowline/kubernetes/events-v1';
import { allow, type Controller, defineOperator, type Operator, type Permission } from '@bowline/runtime';
import { deployments } from './deployment/deployment.ts';
import { defaultAccounts, rootCertificates } from './namespaces/furnished-namespaces.ts';
import { nodeTaints } from './nodes/node-taints.ts';
import { EveryObject, type EveryObjectOptions } from './objects/every-object.ts';
import { WorkloadEvents } from './pods/workload-events.ts';
import { replicaSets } from './replica-set/replica-set.ts';
import { Assumed, scheduler } from './scheduler/scheduler.ts';
import type { WorkloadDeps } from './workload-deps.ts';

/** WorkloadParts says which controllers run, and with what. */
export interface WorkloadParts extends EveryObjectOptions {
  readonly rootCertificate: string | undefined;
  readonly workloads: boolean;
  readonly scheduler: boolean;
}

/** workloadsOperator is the controllers of a control plane as the runtime runs them. */
export function workloadsOperator(parts: WorkloadParts): Operator {
  const { client, clock, random, log } = parts;
  const controllers: Controller<WorkloadDeps>[] = [defaultAccounts()];
  const permissions: Permission[] = [allow(['create'], ServiceAccount), allow(['create', 'patch'], Event)];
  if (parts.rootCertificate !== undefined) {
    controllers.push(rootCertificates(parts.rootCertificate));
    permissions.push(allow(['create', 'update'], ConfigMap));
  }
  if (parts.workloads) {
    controllers.push(nodeTaints(), replicaSets(), deployments());
    permissions.push(...workloadPermissions());
  }
  if (parts.scheduler) {
    controllers.push(scheduler());
    permissions.push(
      allow(['create'], Pod, { subresource: 'binding' }),
      allow(['patch'], Pod, { subresource: 'status' }),
    );
  }
  return defineOperator({
    name: 'workloads',
    setup: ({ client: restricted }): WorkloadDeps => ({
      assumed: new Assumed(),
      events: new WorkloadEvents({ client: restricted, instance: 'bowline', clock, random, log }),
    }),
    controllers,
    services: [
      { name: 'events', run: (signal, { events }) => events.run(signal) },
      // What there is to collect is not known beforehand, so neither are the rights.
      { name: 'every-object', run: (signal) => new EveryObject({ ...parts, client }).run(signal) },
    ],
    permissions,
  });
}

function workloadPermissions(): readonly Permission[] {
  const everything = ['create', 'patch', 'delete'];
  return [
    allow(['get'], Namespace),
    allow(['patch'], Node),
    allow(everything, Pod),
    allow(everything, ReplicaSet),
    allow(['patch'], ReplicaSet, { subresource: 'status' }),
    allow(['patch'], Deployment),
    allow(['patch'], Deployment, { subresource: 'status' }),
  ];
}
