import {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  Ingress,
  PodDisruptionBudget,
  Role,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
  StatefulSet,
  ValidatingWebhookConfiguration,
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
import { CONTROLLER_MANAGER, SERVER, WEBHOOK } from '../spire/names.ts';
import { ClusterSPIFFEID } from '../third-party/cluster-spiffe-id.ts';
import { HTTPRoute, TLSRoute } from '../third-party/gateway-routes.ts';
import { Route } from '../third-party/route.ts';
import { VolumeSnapshot } from '../third-party/volume-snapshot.ts';

/** The names of the ClusterRoles and their bindings. */
const names = [SERVER, CONTROLLER_MANAGER];

/** serverController watches the SpireServer, what its configuration follows from, and its objects. */
export const serverController = controller(SpireServer, {
  name: 'server',
  finalizer: FINALIZERS.server,
  fieldSelector: `metadata.name=${SINGLETON}`,
})
  .using<Deps>()
  .watches(ZeroTrustWorkloadIdentityManager, ofSingletons)
  .watches(SpireAgent, ofSingletons)
  .watches(SpiffeCSIDriver, ofSingletons)
  .watches(SpireOIDCDiscoveryProvider, ofSingletons)
  .owns(ServiceAccount, { ...inNamespace, remove: true })
  .owns(Role, { ...inNamespace, remove: true })
  .owns(RoleBinding, { ...inNamespace, remove: true })
  .owns(ClusterRole, { ...inCluster, names, remove: true })
  .owns(ClusterRoleBinding, { ...inCluster, names, remove: true })
  .owns(Service, { ...inNamespace, remove: true })
  .owns(ConfigMap, { ...inNamespace, remove: true })
  .owns(ValidatingWebhookConfiguration, { ...inCluster, names: [WEBHOOK], remove: true })
  .owns(PodDisruptionBudget, { ...inNamespace, remove: true })
  .owns(Ingress, { ...inNamespace, remove: true })
  .owns(Route, { ...inNamespace, remove: true, optional: true })
  .owns(TLSRoute, { ...inNamespace, remove: true, optional: true })
  .owns(HTTPRoute, { ...inNamespace, remove: true, optional: true })
  .owns(ClusterSPIFFEID, { ...inCluster, remove: true, optional: true })
  .watches(VolumeSnapshot, { ...ofWorkloads, optional: true })
  .watches(StatefulSet, ofWorkloads)
  .applies(StatefulSet, { remove: true, namespaces: inNamespace.namespaces })
  .watches(Secret, { namespaces: inNamespace.namespaces, view: secretView, map: () => [{ name: SINGLETON }] })
  .applies(Secret, { remove: true, namespaces: inNamespace.namespaces })
  .triggeredBy('authority', onAuthorityChange)
  .when(configChanged);

/** ServerContext is the context of a run of the controller. */
export type ServerContext = Parameters<Parameters<(typeof serverController)['reconcile']>[0]>[0];
