import { ClusterRole, ClusterRoleBinding, ConfigMap, DaemonSet, Service, ServiceAccount } from '@bowline/kubernetes';
import type { OperandCleanup } from '../operand/clean-up.ts';
import { SecurityContextConstraints } from '../third-party/security-context-constraints.ts';

/** agentCleanup is what is deleted with a SpireAgent. */
export const agentCleanup: OperandCleanup = {
  kind: 'SpireAgent',
  component: 'node-agent',
  tiers: [
    { name: 'workload', kinds: [DaemonSet] },
    {
      name: 'objects',
      kinds: [ConfigMap, Service, ClusterRoleBinding, ClusterRole, SecurityContextConstraints, ServiceAccount],
    },
  ],
};
