import { DaemonSet, RoleBinding, ServiceAccount, ValidatingAdmissionPolicy } from '@bowline/kubernetes';
import { controller } from '@bowline/runtime';
import { reports } from './companions.ts';
import { Fleet } from './fleet.ts';

/** CREATED_BY is the label of the workloads that the operator creates. */
export const CREATED_BY = { 'app.kubernetes.io/managed-by': 'example-fleets' };

/** FleetDeps holds what the controller knows about its install. */
export interface FleetDeps {
  /** The name of the ClusterRole of agents. */
  readonly agentRole: string;
}

/** fleets runs the agents of every Fleet, as long as their reports are guarded. */
export const fleets = controller(Fleet)
  .using<FleetDeps>()
  .owns(ServiceAccount)
  .owns(RoleBinding)
  .owns(DaemonSet)
  .watches(ValidatingAdmissionPolicy, {
    fieldSelector: reports.fieldSelector,
    map: (_, { list }) => list(Fleet).map(({ metadata }) => metadata),
  })
  .reconcile(async ({ object, key, apply, list, status, deps }) => {
    const labels = { app: key.name };
    if (list(ValidatingAdmissionPolicy).length === 0) {
      status.condition('Ready', false, 'Unguarded', 'the admission policy of the install is missing; apply it again');
      return;
    }
    await apply(ServiceAccount, { metadata: key });
    await apply(RoleBinding, {
      metadata: key,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: deps.agentRole },
      subjects: [{ kind: 'ServiceAccount', ...key }],
    });
    await apply(DaemonSet, {
      metadata: { ...key, labels: CREATED_BY },
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { serviceAccountName: key.name, containers: [{ name: 'agent', image: object.spec.image }] },
        },
      },
    });
  });
