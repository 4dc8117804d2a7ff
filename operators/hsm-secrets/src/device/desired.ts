import type { NetworkPolicy, ObjectKey, RoleBinding, ServiceAccount } from '@bowline/kubernetes';
import type { HSMDevice } from '../api/hsm-device.ts';
import { AGENT_PORT, agentAccountName, discoveryName, LABELS, labelsOf, poolName } from '../api/names.ts';

/** desiredPool returns the pool of an HSMDevice. It has only the settings that the HSMDevice sets; others are the user's. */
export function desiredPool({ spec }: HSMDevice, { namespace, name }: ObjectKey) {
  const { gracePeriod, mirroring } = spec;
  return {
    metadata: { namespace, name: poolName(name), labels: labelsOf('pool', name) },
    spec: {
      hsmDeviceRef: name,
      ...(gracePeriod === undefined ? {} : { gracePeriod }),
      ...(mirroring === undefined ? {} : { mirroring }),
    },
  };
}

/** desiredAccounts returns the ServiceAccounts of discovery and agents. Neither mounts a token by default. */
export function desiredAccounts({ namespace, name }: ObjectKey): readonly ServiceAccount[] {
  const account = (accountName: string, component: 'discovery' | 'agent'): ServiceAccount => ({
    metadata: { namespace, name: accountName, labels: labelsOf(component, name) },
    automountServiceAccountToken: false,
  });
  return [account(discoveryName(name), 'discovery'), account(agentAccountName(name), 'agent')];
}

/** desiredRoleBinding returns the permissions of discovery in the namespace of the HSMDevice. */
export function desiredRoleBinding({ namespace, name }: ObjectKey, discoveryRole: string): RoleBinding {
  return {
    metadata: { namespace, name: discoveryName(name), labels: labelsOf('discovery', name) },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: discoveryRole },
    subjects: [{ kind: 'ServiceAccount', namespace, name: discoveryName(name) }],
  };
}

/** desiredNetworkPolicy lets only the manager connect to agents, and agents connect to nothing. */
export function desiredNetworkPolicy({ namespace, name }: ObjectKey, managerNamespace: string): NetworkPolicy {
  return {
    metadata: { namespace, name: agentAccountName(name), labels: labelsOf('agent', name) },
    spec: {
      podSelector: { matchLabels: { [LABELS.component]: 'agent', [LABELS.device]: name } },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [
        {
          from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': managerNamespace } } }],
          ports: [{ protocol: 'TCP', port: AGENT_PORT }],
        },
      ],
    },
  };
}
