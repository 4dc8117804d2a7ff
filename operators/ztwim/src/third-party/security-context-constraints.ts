import { type KubernetesObject, resource } from '@bowline/kubernetes';

/** SecurityContextConstraints is the type of OpenShift's rules for pods, as far as the operator writes it. */
export interface SecurityContextConstraints extends KubernetesObject {
  readonly allowHostDirVolumePlugin: boolean;
  readonly allowHostIPC: boolean;
  readonly allowHostNetwork: boolean;
  readonly allowHostPID: boolean;
  readonly allowHostPorts: boolean;
  readonly allowPrivilegeEscalation: boolean;
  readonly allowPrivilegedContainer: boolean;
  readonly readOnlyRootFilesystem: boolean;
  readonly requiredDropCapabilities: readonly string[];
  readonly runAsUser: { readonly type: string };
  readonly seLinuxContext: { readonly type: string };
  readonly fsGroup: { readonly type: string };
  readonly supplementalGroups: { readonly type: string };
  readonly seccompProfiles: readonly string[];
  readonly users: readonly string[];
  readonly groups: readonly string[];
  readonly volumes: readonly string[];
}

/** SecurityContextConstraints is the kind with which OpenShift admits pods. Other clusters do not serve it. */
export const SecurityContextConstraints = resource<SecurityContextConstraints>()({
  group: 'security.openshift.io',
  version: 'v1',
  kind: 'SecurityContextConstraints',
  plural: 'securitycontextconstraints',
  scope: 'Cluster',
});
