import { ClusterRole, ClusterRoleBinding, ConfigMap, DaemonSet, Service, ServiceAccount } from '@bowline/kubernetes';
import { type Child, child } from '../objects/child.ts';
import { constraintsFor } from '../objects/constraints.ts';
import { objectLabels, selectorLabels } from '../objects/labels.ts';
import { agentConfig } from '../spire/agent-config.ts';
import { AGENT, PORTS } from '../spire/names.ts';
import { renderFile } from '../spire/rendered-file.ts';
import { agentDaemonSet } from './agent-daemon-set.ts';
import { AGENT_CONF, type AgentInput, agentComponent } from './agent-input.ts';

/** The pods of the agent see the processes of the node, and put a socket into a folder of the node. */
const PERMITTED = {
  allowHostNetwork: true,
  allowHostPID: true,
  allowHostPorts: true,
  allowPrivilegeEscalation: false,
  allowPrivilegedContainer: false,
  readOnlyRootFilesystem: true,
  volumes: ['configMap', 'emptyDir', 'hostPath', 'projected'],
};

/** agentObjects returns the objects of a SpireAgent in the order in which they are written. */
export function agentObjects(input: AgentInput): readonly Child[] {
  const { config, isOpenShift, spec, values } = input;
  const { operandNamespace: namespace } = config;
  const of = agentComponent(input);
  const labels = objectLabels(input, of);
  const file = renderFile(agentConfig({ spec, values, namespace, isOpenShift }));
  return [
    child('ServiceAccountAvailable', ServiceAccount, { metadata: { name: AGENT, namespace, labels } }),
    ...access(input, labels),
    ...(isOpenShift ? [constraintsFor(AGENT, input, labels, PERMITTED)] : []),
    child('ServiceAvailable', Service, {
      metadata: { name: AGENT, namespace, labels },
      spec: {
        type: 'ClusterIP',
        selector: selectorLabels(of),
        ports: [{ name: 'metrics', port: PORTS.metrics, targetPort: 'metrics', protocol: 'TCP' }],
      },
    }),
    child('ConfigMapAvailable', ConfigMap, {
      metadata: { name: AGENT, namespace, labels },
      data: { [AGENT_CONF]: file.text },
    }),
    child('DaemonSetAvailable', DaemonSet, agentDaemonSet(input, file)),
  ];
}

function access({ config }: AgentInput, labels: Readonly<Record<string, string>>): readonly Child[] {
  const { operandNamespace: namespace, kubeletAuthorization } = config;
  const metadata = { name: AGENT, labels };
  return [
    child('RBACAvailable', ClusterRole, {
      metadata,
      rules: [
        { apiGroups: [''], resources: ['nodes', 'pods'], verbs: ['get'] },
        { apiGroups: [''], resources: [`nodes/${kubeletAuthorization}`], verbs: ['get'] },
      ],
    }),
    child('RBACAvailable', ClusterRoleBinding, {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: AGENT },
      subjects: [{ kind: 'ServiceAccount', name: AGENT, namespace }],
    }),
  ];
}
