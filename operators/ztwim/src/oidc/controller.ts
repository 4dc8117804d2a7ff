import {
  ConfigMap,
  DaemonSet,
  Deployment,
  Ingress,
  PodDisruptionBudget,
  Role,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
} from '@bowline/kubernetes';
import { controller } from '@bowline/runtime';
import { FINALIZERS, SINGLETON } from '../api/names.ts';
import { SpiffeCSIDriver } from '../api/spiffe-csi-driver.ts';
import { SpireAgent } from '../api/spire-agent.ts';
import { SpireOIDCDiscoveryProvider } from '../api/spire-oidc-discovery-provider.ts';
import { SpireServer } from '../api/spire-server.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { onAuthorityChange } from '../certificates/authority-changes.ts';
import type { Deps } from '../deps.ts';
import { secretView } from '../operand/referenced-secrets.ts';
import { configChanged, inCluster, inNamespace, ofSingletons, ofWorkloads } from '../operand/sources.ts';
import { ClusterSPIFFEID } from '../third-party/cluster-spiffe-id.ts';
import { HTTPRoute, TLSRoute } from '../third-party/gateway-routes.ts';
import { Route } from '../third-party/route.ts';

/** oidcController watches the SpireOIDCDiscoveryProvider, what its configuration follows from, and its objects. */
export const oidcController = controller(SpireOIDCDiscoveryProvider, {
  name: 'oidc',
  finalizer: FINALIZERS.oidc,
  fieldSelector: `metadata.name=${SINGLETON}`,
})
  .using<Deps>()
  .watches(ZeroTrustWorkloadIdentityManager, ofSingletons)
  .watches(SpireServer, ofSingletons)
  .watches(SpireAgent, ofSingletons)
  .watches(SpiffeCSIDriver, ofSingletons)
  .owns(ServiceAccount, { ...inNamespace, remove: true })
  .owns(Role, { ...inNamespace, remove: true })
  .owns(RoleBinding, { ...inNamespace, remove: true })
  .owns(Service, { ...inNamespace, remove: true })
  .owns(ConfigMap, { ...inNamespace, remove: true })
  .owns(PodDisruptionBudget, { ...inNamespace, remove: true })
  .owns(Ingress, { ...inNamespace, remove: true })
  .owns(Route, { ...inNamespace, remove: true, optional: true })
  .owns(TLSRoute, { ...inNamespace, remove: true, optional: true })
  .owns(HTTPRoute, { ...inNamespace, remove: true, optional: true })
  .owns(ClusterSPIFFEID, { ...inCluster, remove: true, optional: true })
  .watches(Deployment, ofWorkloads)
  .watches(DaemonSet, ofWorkloads)
  .applies(Deployment, { remove: true, namespaces: inNamespace.namespaces })
  .watches(Secret, { namespaces: inNamespace.namespaces, view: secretView, map: () => [{ name: SINGLETON }] })
  .applies(Secret, { remove: true, namespaces: inNamespace.namespaces })
  .triggeredBy('authority', onAuthorityChange)
  .when(configChanged);

/** OidcContext is the context of a run of the controller. */
export type OidcContext = Parameters<Parameters<(typeof oidcController)['reconcile']>[0]>[0];
