import type { EffectiveValues } from '../resolve/hold.ts';
import type { IdentityHistory } from './identity-history.ts';
import { LEADER_ELECTION, PORTS, SERVER_SOCKET, WEBHOOK } from './names.ts';

/** ControllerManagerConfigInput is what the configuration of the SPIRE controller manager follows from. */
export interface ControllerManagerConfigInput {
  readonly values: EffectiveValues;
  readonly namespace: string;
  readonly clusterDomain: string;
  readonly className: string;
  readonly history: IdentityHistory;
}

/** Regular expressions of the namespaces whose pods get no identities. */
const IGNORED_NAMESPACES = ['^kube-system$', '^kube-public$', '^openshift-.*$'];

/** controllerManagerConfig returns the content of controller-manager-config.yaml. */
export function controllerManagerConfig(input: ControllerManagerConfigInput): object {
  const { values, namespace, clusterDomain, className, history } = input;
  const { previous } = history.clusterName;
  return {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ControllerManagerConfig',
    metrics: { bindAddress: `0.0.0.0:${PORTS.controllerManagerMetrics}` },
    health: { healthProbeBindAddress: `0.0.0.0:${PORTS.controllerManagerHealth}` },
    leaderElection: { leaderElect: true, resourceName: LEADER_ELECTION, resourceNamespace: namespace },
    clusterName: values.clusterName,
    clusterDomain,
    trustDomain: values.trustDomain,
    className,
    watchClassless: false,
    entryIDPrefix: values.clusterName,
    // Removes the entries of the previous name. The two must differ.
    entryIDPrefixCleanup: previous === values.clusterName ? undefined : previous,
    ignoreNamespaces: IGNORED_NAMESPACES,
    parentIDTemplate: 'spiffe://{{ .TrustDomain }}/spire/agent/k8s_psat/{{ .ClusterName }}/{{ .NodeMeta.UID }}',
    reconcile: { clusterSPIFFEIDs: true, clusterStaticEntries: true, clusterFederatedTrustDomains: true },
    spireServerSocketPath: SERVER_SOCKET,
    validatingWebhookConfigurationName: WEBHOOK,
  };
}
