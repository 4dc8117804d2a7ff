import { SecurityContextConstraints } from '../third-party/security-context-constraints.ts';
import { type Child, child } from './child.ts';
import type { OperandInput } from './operand-input.ts';
import { proxyVolumes } from './proxy.ts';

type Permitted = Pick<
  SecurityContextConstraints,
  | 'allowHostNetwork'
  | 'allowHostPID'
  | 'allowHostPorts'
  | 'allowPrivilegeEscalation'
  | 'allowPrivilegedContainer'
  | 'readOnlyRootFilesystem'
  | 'volumes'
>;

/** constraintsFor returns what OpenShift permits the pods of a ServiceAccount that use folders of their node. */
export function constraintsFor(
  serviceAccount: string,
  input: OperandInput,
  labels: Readonly<Record<string, string>>,
  permitted: Permitted,
): Child {
  return child('RBACAvailable', SecurityContextConstraints, {
    metadata: { name: serviceAccount, labels },
    allowHostDirVolumePlugin: true,
    allowHostIPC: false,
    requiredDropCapabilities: ['ALL'],
    runAsUser: { type: 'RunAsAny' },
    seLinuxContext: { type: 'MustRunAs' },
    fsGroup: { type: 'MustRunAs' },
    supplementalGroups: { type: 'MustRunAs' },
    seccompProfiles: ['runtime/default'],
    users: [`system:serviceaccount:${input.config.operandNamespace}:${serviceAccount}`],
    groups: [],
    ...permitted,
    volumes: volumesFor(input, permitted.volumes),
  });
}

/** The CAs of a proxy are mounted from a ConfigMap. */
function volumesFor(input: OperandInput, volumes: Permitted['volumes']): Permitted['volumes'] {
  return proxyVolumes(input).length === 0 ? volumes : [...new Set([...volumes, 'configMap'])].sort();
}
