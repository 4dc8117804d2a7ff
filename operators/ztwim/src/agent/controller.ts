import {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  DaemonSet,
  Node,
  Service,
  ServiceAccount,
  StatefulSet,
} from '@bowline/kubernetes';
import { changed, controller } from '@bowline/runtime';
import { FINALIZERS, SINGLETON } from '../api/names.ts';
import { SpiffeCSIDriver } from '../api/spiffe-csi-driver.ts';
import { SpireAgent } from '../api/spire-agent.ts';
import { SpireOIDCDiscoveryProvider } from '../api/spire-oidc-discovery-provider.ts';
import { SpireServer } from '../api/spire-server.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import type { Deps } from '../deps.ts';
import { configChanged, inCluster, inNamespace, ofSingletons, ofWorkloads } from '../operand/sources.ts';
import { AGENT } from '../spire/names.ts';
import { Route } from '../third-party/route.ts';
import { SecurityContextConstraints } from '../third-party/security-context-constraints.ts';
import { type NodeView, nodeView } from './kubelet-access.ts';

/** Kubelet reports the state of every node every few minutes. */
const versionChanged = changed((before: NodeView, after) => before.kubeletVersion !== after.kubeletVersion);

/** The names of the cluster-scoped objects. */
const names = [AGENT];

/** agentController watches the SpireAgent, what its configuration follows from, and its objects. */
export const agentController = controller(SpireAgent, {
  name: 'agent',
  finalizer: FINALIZERS.agent,
  fieldSelector: `metadata.name=${SINGLETON}`,
})
  .using<Deps>()
  .watches(ZeroTrustWorkloadIdentityManager, ofSingletons)
  .watches(SpireServer, ofSingletons)
  .watches(SpiffeCSIDriver, ofSingletons)
  .watches(SpireOIDCDiscoveryProvider, ofSingletons)
  .owns(ServiceAccount, { ...inNamespace, remove: true })
  .owns(ClusterRole, { ...inCluster, names, remove: true })
  .owns(ClusterRoleBinding, { ...inCluster, names, remove: true })
  .owns(Service, { ...inNamespace, remove: true })
  .owns(ConfigMap, { ...inNamespace, remove: true })
  .owns(SecurityContextConstraints, { ...inCluster, names, remove: true, optional: true })
  .watches(Route, { ...inNamespace, optional: true, map: () => [] })
  .watches(Node, { view: nodeView, when: versionChanged, map: () => [{ name: SINGLETON }] })
  .watches(DaemonSet, ofWorkloads)
  .watches(StatefulSet, ofWorkloads)
  .applies(DaemonSet, { remove: true, namespaces: inNamespace.namespaces })
  .when(configChanged);

/** AgentContext is the context of a run of the controller. */
export type AgentContext = Parameters<Parameters<(typeof agentController)['reconcile']>[0]>[0];
