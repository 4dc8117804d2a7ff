import { DaemonSet, ServiceAccount } from '@bowline/kubernetes';
import { CSIDriver } from '@bowline/kubernetes/storage-v1';
import { controller } from '@bowline/runtime';
import { FINALIZERS, SINGLETON } from '../api/names.ts';
import { SpiffeCSIDriver } from '../api/spiffe-csi-driver.ts';
import { SpireAgent } from '../api/spire-agent.ts';
import { SpireOIDCDiscoveryProvider } from '../api/spire-oidc-discovery-provider.ts';
import { SpireServer } from '../api/spire-server.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import type { Deps } from '../deps.ts';
import { configChanged, inCluster, inNamespace, ofSingletons, ofWorkloads } from '../operand/sources.ts';
import { CSI_DRIVER } from '../spire/names.ts';
import { Route } from '../third-party/route.ts';
import { SecurityContextConstraints } from '../third-party/security-context-constraints.ts';

/** csiController watches the SpiffeCSIDriver, what its configuration follows from, and its objects. */
export const csiController = controller(SpiffeCSIDriver, {
  name: 'csi',
  finalizer: FINALIZERS.csi,
  fieldSelector: `metadata.name=${SINGLETON}`,
})
  .using<Deps>()
  .watches(ZeroTrustWorkloadIdentityManager, ofSingletons)
  .watches(SpireServer, ofSingletons)
  .watches(SpireAgent, ofSingletons)
  .watches(SpireOIDCDiscoveryProvider, ofSingletons)
  .owns(ServiceAccount, { ...inNamespace, remove: true })
  .owns(CSIDriver, { ...inCluster, remove: true })
  .owns(SecurityContextConstraints, { ...inCluster, names: [CSI_DRIVER], remove: true, optional: true })
  .watches(Route, { ...inNamespace, optional: true, map: () => [] })
  .watches(DaemonSet, ofWorkloads)
  .applies(DaemonSet, { remove: true, namespaces: inNamespace.namespaces })
  .when(configChanged);

/** CsiContext is the context of a run of the controller. */
export type CsiContext = Parameters<Parameters<(typeof csiController)['reconcile']>[0]>[0];
