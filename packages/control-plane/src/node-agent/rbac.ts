import type { ClusterRole, ClusterRoleBinding, Role, RoleBinding, Subject } from '@bowline/kubernetes';
import { systemClock } from '@bowline/machinery';
import { permissionsOf } from '@bowline/runtime/install';
import { Addresses } from './addresses.ts';
import { NODE_LEASE_NAMESPACE } from './heartbeats.ts';
import { DEFAULT_AGENT } from './node-object.ts';
import { nodeAgentOperator } from './operator.ts';
import { VolumeFolders } from './volumes/volume-folders.ts';

/** NodeAgentRbac holds the RBAC objects needed to run a node agent. */
export interface NodeAgentRbac {
  readonly clusterRole: ClusterRole;
  readonly clusterRoleBinding: ClusterRoleBinding;
  /** For the nodes' Leases, in the namespace kube-node-lease. */
  readonly role: Role;
  readonly roleBinding: RoleBinding;
}

/** NodeAgentRbacOptions configures what a node agent may do. */
export interface NodeAgentRbacOptions {
  /** Whether it provisions volumes. Defaults to false. */
  readonly volumes?: boolean | undefined;
}

/** nodeAgentRbac grants a subject exactly the permissions that a node agent declares. `name` is the name of all four objects. */
export function nodeAgentRbac(name: string, subject: Subject, options: NodeAgentRbacOptions = {}): NodeAgentRbac {
  // The permissions do not depend on these values.
  const { cluster, namespaces } = permissionsOf(
    nodeAgentOperator({
      name: DEFAULT_AGENT,
      wire: systemClock,
      heartbeatMs: 1,
      addresses: new Addresses('10.0.0.0/8'),
      folders: options.volumes ? new VolumeFolders(undefined) : undefined,
      onReported: () => undefined,
    }),
  );
  const apiGroup = 'rbac.authorization.k8s.io';
  const here = { name, namespace: NODE_LEASE_NAMESPACE };
  const subjects = [subject];
  return {
    clusterRole: { metadata: { name }, rules: cluster },
    clusterRoleBinding: { metadata: { name }, subjects, roleRef: { apiGroup, kind: 'ClusterRole', name } },
    role: { metadata: here, rules: namespaces[NODE_LEASE_NAMESPACE] ?? [] },
    roleBinding: { metadata: here, subjects, roleRef: { apiGroup, kind: 'Role', name } },
  };
}
